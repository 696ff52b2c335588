/** A signature in one line, laid out over several: a line for each property of what does not fit in one. Pure, and never wrong about text. */
const WIDTH = 64;

export function breakSignature(signature: string): string {
  let at = 0;
  let whole = "";
  while (at < signature.length) {
    const { text, close } = readPart("");
    whole += text + close;
    if (close !== "") at++;
  }
  return whole;

  /** Until the bracket that was open closes. */
  function readPart(indent: string): { text: string; close: string } {
    let text = "";
    while (at < signature.length) {
      const char = signature[at] as string;
      if (char === '"' || char === "'" || char === "`") text += readQuoted(char);
      else if (char === "{") {
        at++;
        text += readBraces(indent);
      } else if (char === "}") return { text, close: char };
      else {
        text += char;
        at++;
      }
    }
    return { text, close: "" };
  }

  function readBraces(indent: string): string {
    const from = at;
    const short = shortEnd(from);
    if (short !== null && short - from + indent.length < WIDTH) {
      at = short + 1;
      return `{${signature.slice(from, short)}}`;
    }
    const inner = `${indent}  `;
    const { text, close } = readPart(inner);
    at++;
    const properties = splitAtSemicolons(text.trim());
    return `{\n${properties.map((property) => `${inner}${property};`).join("\n")}\n${indent}${close}`;
  }

  /** Where these braces close, if they do soon. */
  function shortEnd(from: number): number | null {
    let depth = 1;
    for (let index = from; index < signature.length && index - from < WIDTH; index++) {
      const char = signature[index];
      if (char === '"' || char === "'" || char === "`") {
        index = quotedEnd(index);
        continue;
      }
      if (char === "{") depth++;
      if (char === "}" && --depth === 0) return index;
    }
    return null;
  }

  function readQuoted(quote: string): string {
    const from = at;
    at = quotedEnd(at) + 1;
    return at > from ? signature.slice(from, at) : quote;
  }

  function quotedEnd(from: number): number {
    const quote = signature[from];
    for (let index = from + 1; index < signature.length; index++) {
      if (signature[index] === "\\") index++;
      else if (signature[index] === quote) return index;
    }
    return signature.length - 1;
  }
}

/** At the top level only: what is nested was laid out already. */
function splitAtSemicolons(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let quote = "";
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string;
    if (quote !== "") {
      if (char === "\\") at++;
      else if (char === quote) quote = "";
    } else if (char === '"' || char === "'" || char === "`") quote = char;
    else if ("{([<".includes(char)) depth++;
    else if ("})]".includes(char) || (char === ">" && text[at - 1] !== "=")) depth--;
    else if (char === ";" && depth === 0) {
      parts.push(text.slice(from, at).trim());
      from = at + 1;
    }
  }
  const last = text.slice(from).trim();
  return last === "" ? parts : [...parts, last];
}
