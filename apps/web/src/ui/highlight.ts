/** Colours for TypeScript and JSON that is only read: a few token kinds by one expression. The editor has a real parser. */
export type TokenKind = "plain" | "keyword" | "string" | "number" | "comment" | "call";
export interface Token {
  kind: TokenKind;
  text: string;
}

const TOKENS =
  /(?<comment>\/\/[^\n]*|\/\*[^]*?(?:\*\/|$))|(?<string>"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|`(?:\\[^]|[^`\\])*`?)|(?<number>\b\d[\w.]*)|(?<keyword>\b(?:await|async|break|case|catch|class|const|continue|default|delete|do|else|export|false|finally|for|from|function|if|import|in|instanceof|interface|let|new|null|of|return|switch|this|throw|true|try|type|typeof|undefined|var|void|while|yield)\b)|(?<call>\btools(?:\.[\w$]+)+)/g;
const MAX_COLOURED = 200_000;

/** By line, for a view that numbers them. */
export function highlightLines(code: string): Token[][] {
  const lines: Token[][] = [[]];
  const add = (kind: TokenKind, text: string) => {
    text.split("\n").forEach((part, at) => {
      if (at > 0) lines.push([]);
      if (part !== "") lines.at(-1)?.push({ kind, text: part });
    });
  };
  if (code.length > MAX_COLOURED) {
    add("plain", code);
    return lines;
  }
  let at = 0;
  for (const found of code.matchAll(TOKENS)) {
    add("plain", code.slice(at, found.index));
    const kind = Object.entries(found.groups ?? {}).find(([, text]) => text !== undefined)?.[0] as TokenKind;
    add(kind, found[0]);
    at = found.index + found[0].length;
  }
  add("plain", code.slice(at));
  return lines;
}

export const plainLines = (code: string): Token[][] =>
  code.split("\n").map((text) => (text === "" ? [] : [{ kind: "plain", text }]));
