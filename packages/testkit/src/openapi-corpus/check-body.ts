/** Reads a body by its media type and the encoding the document gives, and says where it is not what was meant. */
import { isDeepStrictEqual } from "node:util";
import type { Received } from "./check-request.ts";
import type { RawEncoding, RawOperation } from "./raw-operation.ts";
import { isRecord } from "./sample-input.ts";
import { covers, decode, essence, isGiven, isSame, pair, parse, readPairs, show } from "./wire-text.ts";

export async function checkBody(operation: RawOperation, value: unknown, got: Received): Promise<string[]> {
  if (value === undefined) return got.body.length === 0 ? [] : ["a body was sent and none was given"];
  const sent = got.headers.get("content-type") ?? "";
  const type = essence(sent);
  const declared =
    operation.bodyTypes.find((each) => essence(each) === type) ??
    operation.bodyTypes.find((each) => covers(each, type));
  if (declared === undefined) return [`content type ${sent} is none of ${operation.bodyTypes.join(", ")}`];
  const encoding = operation.encoding[declared] ?? {};
  const text = (): string => new TextDecoder().decode(got.body);
  if (/[/+]json$/.test(type))
    return isDeepStrictEqual(JSON.parse(text()), JSON.parse(JSON.stringify(value)))
      ? []
      : [`JSON body ${text().slice(0, 200)} for ${show(value)}`];
  if (type === "application/x-www-form-urlencoded") return checkForm(encoding, value, text());
  if (type.startsWith("multipart/")) return checkMultipart(encoding, value, got, sent);
  if (/[/+]xml$/.test(type) && typeof value !== "string")
    return isWellFormed(text()) ? [] : [`no XML: ${text().slice(0, 200)}`];
  const base64 = isRecord(value) && typeof value.base64 === "string" ? value.base64 : value;
  const isBytes = typeof base64 === "string" && Buffer.from(base64, "base64").equals(got.body);
  const isText = text() === (typeof value === "string" ? value : JSON.stringify(value));
  return isBytes || isText ? [] : [`body ${text().slice(0, 100)} for ${show(value)}`];
}

function checkForm(encoding: Record<string, RawEncoding>, value: unknown, text: string): string[] {
  if (typeof value === "string") return text === value ? [] : [`form ${text} for ${show(value)}`];
  if (Array.isArray(value)) {
    const styles = Object.fromEntries(value.map((_, at) => [String(at), { style: "deepObject", explode: true }]));
    return checkForm(styles, { ...value }, text);
  }
  if (!isRecord(value)) return [`form ${text} for ${show(value)}`];
  const problems: string[] = [];
  const left = text === "" ? [] : text.split("&").map((piece) => pair(piece, (part) => part));
  const read = (part: string): string => decode(part.replaceAll("+", "%20"));
  for (const [name, item] of Object.entries(value)) {
    if (!isGiven(item)) continue;
    const own = encoding[name];
    const isJson = isRecord(item) && own?.style === undefined;
    const style = own?.style ?? "form";
    const param = {
      name,
      style,
      explode: own?.explode ?? style === "form",
      content:
        isJson || (own?.contentType?.includes("json") && typeof item === "object" && own.style === undefined)
          ? "application/json"
          : null,
    };
    const found = readPairs(param, left, item, read);
    if (!isSame(found, item)) problems.push(`form ${name}: ${text.slice(0, 200)} for ${show(item)}`);
  }
  if (left.length > 0) problems.push(`form has more than was given: ${left.map(([name]) => name).join(", ")}`);
  return problems;
}

async function checkMultipart(
  encoding: Record<string, RawEncoding>,
  given: unknown,
  got: Received,
  type: string,
): Promise<string[]> {
  // What is no object has no name of its own.
  const isBare = !isRecord(given) || (typeof given.base64 === "string" && Object.keys(given).length <= 3);
  const value: Record<string, unknown> = isBare ? { file: given } : given;
  const formType = type.replace(/^multipart\/[\w-]+/, "multipart/form-data");
  const form = await new Response(got.body as Uint8Array<ArrayBuffer>, {
    headers: { "content-type": formType },
  }).formData();
  const problems: string[] = [];
  // As pairs of a query, with the separators of the styles encoded.
  const left = [...form].flatMap(([name, part]): [string, string][] =>
    typeof part === "string" ? [[name, part.replace(/[%| \t]/g, encodeURIComponent)]] : [],
  );
  for (const [name, item] of Object.entries(value)) {
    if (!isGiven(item)) continue;
    const { style, explode = style === "form" || style === "deepObject" } = encoding[name] ?? {};
    const isFile = isRecord(item) && typeof item.base64 === "string";
    if (style !== undefined && typeof item === "object" && !isFile && !isBinaryList(form, name)) {
      const found = readPairs({ name, style, explode, content: null }, left, item, decode);
      if (!isSame(found, item)) problems.push(`parts of ${name} for ${show(item)}`);
      continue;
    }
    const items = Array.isArray(item) ? item.filter(isGiven) : [item];
    const parts = form.getAll(name) as (string | File)[];
    const same = await Promise.all(items.map((each, at) => isPart(parts[at], each)));
    if (parts.length !== items.length || same.includes(false))
      problems.push(`part ${name}: ${parts.length} for ${show(item)}`);
  }
  return problems;
}

const isBinaryList = (form: FormData, name: string): boolean =>
  form.getAll(name).some((part: unknown) => typeof part !== "string");

async function isPart(part: string | File | undefined, value: unknown): Promise<boolean> {
  if (part === undefined) return false;
  const base64 = isRecord(value) && typeof value.base64 === "string" ? value.base64 : value;
  const bytes = typeof part === "string" ? Buffer.from(part) : Buffer.from(await part.arrayBuffer());
  if (typeof base64 === "string" && bytes.equals(Buffer.from(base64, "base64"))) return true;
  const text = bytes.toString();
  return typeof value === "object"
    ? isDeepStrictEqual(parse(text), JSON.parse(JSON.stringify(value)))
    : text === String(value);
}

function isWellFormed(text: string): boolean {
  const open: string[] = [];
  for (const [, close, name, self] of text.matchAll(/<(\/?)([A-Za-z_][\w:.-]*)(?:\s[^<>]*?)?(\/?)>/g)) {
    if (close !== "") {
      if (open.pop() !== name) return false;
    } else if (self === "") open.push(name as string);
  }
  return open.length === 0 && /<[A-Za-z_]/.test(text);
}
