/** What people, models and search read of an operation: a description in plain text, and more words to find it by. */
import type { FoundOperation } from "./read-operations.ts";

export function describeOperation(found: FoundOperation): string {
  const summary = toPlainText(found.summary, 300);
  const rest = toPlainText(found.description, maxDescription);
  const repeats = rest === "" || summary === rest || (summary !== "" && rest.startsWith(summary));
  const parts = [
    found.operation.deprecated ? "Deprecated." : "",
    repeats && rest !== "" ? "" : summary && endSentence(summary),
    rest,
  ];
  const text = parts.filter((part) => part !== "").join(" ");
  return cut(text === "" ? `${found.method} ${found.path}` : text, maxDescription);
}

export function keywordsOf(found: FoundOperation): string {
  const words = new Set<string>(found.tags.slice(0, 10));
  for (const part of found.path.split("/")) if (part !== "") words.add(part.replace(/[{}]/g, ""));
  for (const param of found.operation.params) words.add(param.name);
  for (const field of found.operation.body?.fields ?? []) words.add(field);
  let text = "";
  for (const word of words) {
    if (text.length + word.length >= maxKeywords) break;
    text += text === "" ? word : ` ${word}`;
  }
  return text;
}

const maxDescription = 1_000;
const maxKeywords = 400;

/** Markdown and HTML lightly taken off: what is left reads as sentences. */
export function toPlainText(markdown: string, maxLength: number): string {
  if (markdown === "") return "";
  let text = markdown.length > maxLength * 4 ? markdown.slice(0, maxLength * 4) : markdown;
  if (text.includes("](")) text = text.replace(/!?\[([^\]]{0,500})\]\([^)]{0,2000}\)/g, "$1");
  if (text.includes("<")) text = text.replace(/<\/?[a-zA-Z][^<>]{0,500}>/g, " ");
  if (text.includes("`") || text.includes("**")) text = text.replace(/`{1,3}|\*\*/g, "");
  if (/^#|\n[#>*-]/.test(text)) text = text.replace(/^(?:#{1,6}|[>*-])\s+/gm, "");
  // A single space stays as it is: they are nearly all there is.
  return cut(text.replace(/\s{2,}|[^\S ]/g, " ").trim(), maxLength);
}

const endSentence = (text: string): string => (/[.!?:]$/.test(text) ? text : `${text}.`);

function cut(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  // Never through a surrogate pair.
  const end = /[\uD800-\uDBFF]/.test(text[maxLength - 2] as string) ? maxLength - 2 : maxLength - 1;
  return `${text.slice(0, end)}…`;
}
