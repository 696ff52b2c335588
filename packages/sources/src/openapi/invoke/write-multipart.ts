/**
 * multipart bodies: one part per property, one per item of a list, unless a style says otherwise. Files are parts with a file name; objects go as JSON; the
 * rest as text. Names and file names come from the model and are quoted so that they cannot begin a header or a part.
 */
import type { CompiledContent } from "./compile-body.ts";
import { FILE_EXPECTED, isFileObject, readFileValue, type FileValue } from "./file-value.ts";
import type { WrittenBody } from "./write-body.ts";
import { isAbsent, isComposite, toText, writePairs } from "./write-param.ts";

interface Part {
  name: string;
  filename: string | null;
  contentType: string | null;
  body: string | Uint8Array;
}

/** Null when it is no object. */
export function writeMultipart(content: CompiledContent, value: unknown, problems: string[]): WrittenBody | null {
  // A body that is no object, only a file or several: they get the name most servers look for.
  const isBare = !isComposite(value) || Array.isArray(value) || isFileObject(value);
  const fields: [string, unknown][] = isBare ? [["file", value]] : Object.entries(value);
  const parts = fields.flatMap(([name, item]) => partsOf(content, name, item, problems));
  const boundary = `executor-${crypto.randomUUID()}`;
  const chunks = parts.flatMap((part) => [head(part, boundary), part.body, "\r\n"]);
  const bytes = Buffer.concat([...chunks, `--${boundary}--\r\n`].map((chunk) => Buffer.from(chunk as Uint8Array)));
  const type = content.contentType.split(";")[0]?.trim() ?? "multipart/form-data";
  return { contentType: `${type.includes("*") ? "multipart/form-data" : type}; boundary=${boundary}`, body: bytes };
}

function partsOf(content: CompiledContent, name: string, value: unknown, problems: string[]): Part[] {
  if (isAbsent(value)) return [];
  const encoding = content.encoding.get(name);
  if (encoding?.style !== undefined && isComposite(value) && !content.files.has(name) && !isFileObject(value)) {
    const { style, explode = style === "form" || style === "deepObject" } = encoding;
    return writePairs({ name, style, explode }, value, asIs).map(([key, text]) => textPart(key, text));
  }
  const items: unknown[] = Array.isArray(value) ? value.filter((item) => !isAbsent(item)) : [value];
  return items.flatMap((item, index) => {
    const at = Array.isArray(value) ? `${name}[${index}]` : name;
    return partOf(content, name, item, encoding?.contentType, problems, at);
  });
}

const asIs = (text: string): string => text;
const textPart = (name: string, body: string): Part => ({ name, filename: null, contentType: null, body });

function partOf(
  content: CompiledContent,
  name: string,
  value: unknown,
  declared: string | undefined,
  problems: string[],
  at: string,
): Part[] {
  if (content.files.has(name) || (isFileObject(value) && !content.objects.has(name))) {
    const file = readFileValue(value);
    if (file !== null) return [filePart(name, file, declared)];
    problems.push(`${at} ${FILE_EXPECTED}`);
    return [];
  }
  const own = isComposite(value) ? "application/json" : null;
  return [{ name, filename: null, contentType: firstConcrete(declared) ?? own, body: toText(value) }];
}

function filePart(name: string, file: FileValue, declared: string | undefined): Part {
  const contentType = file.contentType ?? firstConcrete(declared) ?? "application/octet-stream";
  // Many servers take a part for a file only if it has a file name.
  return { name, filename: file.filename ?? name, contentType, body: file.bytes };
}

/** `image/png, image/*`: the first that is a type and no range. */
function firstConcrete(declared: string | undefined): string | null {
  const types = declared?.split(",").map((type) => type.trim()) ?? [];
  return types.find((type) => /^[\w.+-]+\/[\w.+-]+(;[^\r\n]*)?$/.test(type)) ?? null;
}

function head(part: Part, boundary: string): string {
  const filename = part.filename === null ? "" : `; filename="${quoted(part.filename)}"`;
  const type = part.contentType === null ? "" : `\r\nContent-Type: ${part.contentType}`;
  return `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(part.name)}"${filename}${type}\r\n\r\n`;
}

/** As browsers do it. */
const quoted = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\r\n"\0]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
