/**
 * The gaps of a path. OpenAPI knows `{name}`; some documents also write what RFC 6570 knows: `{+name}` (a value that may hold
 * slashes), `{name*}`, and `{?name}`, which stands for query parameters and is no part of the path.
 */

export interface PathGap {
  /** With its braces, as the document writes it. */
  text: string;
  name: string;
  /** The value may be several segments. */
  spans: boolean;
}

/**
 * Some documents tell operations of one URL apart by a query or a fragment in the path. A fragment is never sent, and `{?name}`
 * says nothing that the parameters do not say.
 */
export function splitQuery(template: string): { path: string; query: string } {
  const sent = (template.split("#", 1)[0] as string).replace(/\{[?&][^{}]*\}/g, "");
  const at = sent.indexOf("?");
  return at < 0 ? { path: sent, query: "" } : { path: sent.slice(0, at), query: sent.slice(at + 1) };
}

/** Literal texts and gaps in turn. */
export function splitTemplate(path: string): (string | PathGap)[] {
  const pieces: (string | PathGap)[] = [];
  for (const text of path.split(/(\{[^{}]+\})/)) {
    if (text === "") continue;
    if (!text.startsWith("{") || !text.endsWith("}")) pieces.push(text);
    else pieces.push(gapOf(text));
  }
  return pieces;
}

export const gapsOf = (path: string): PathGap[] => splitTemplate(path).filter((piece) => typeof piece !== "string");

function gapOf(text: string): PathGap {
  const inner = text.slice(1, -1);
  const [, plus, name] = /^(\+?)(.+?)\*?$/.exec(inner) as unknown as [string, string, string];
  return { text, name, spans: plus === "+" };
}
