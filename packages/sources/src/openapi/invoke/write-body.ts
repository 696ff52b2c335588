/**
 * Writes a request body as its media type wants it. Problems are collected, not thrown: the caller hears of all at once.
 * Bytes in the input are base64 (file-value.ts); XML and other text is given as text.
 */
import type { CompiledContent } from "./compile-body.ts";
import { FILE_EXPECTED, isFileObject, readFileValue } from "./file-value.ts";
import { writeForm } from "./write-form.ts";
import { writeMultipart } from "./write-multipart.ts";
import { isComposite, toText } from "./write-param.ts";
import { writeXml } from "./write-xml.ts";

export interface WrittenBody {
  contentType: string;
  body: string | Uint8Array<ArrayBufferLike>;
}

/** `at` names the body in a problem. */
export function writeBody(
  content: CompiledContent,
  value: unknown,
  problems: string[],
  at = "body",
): WrittenBody | null {
  switch (content.format) {
    case "json":
      return { contentType: content.contentType, body: JSON.stringify(value) };
    case "form":
      if (typeof value === "string") return { contentType: content.contentType, body: value };
      return written(content, writeForm(content, value), problems, `${at} must be an object: it is sent as a form`);
    case "multipart": {
      const multipart = writeMultipart(content, value, problems);
      if (multipart === null) problems.push(`${at} must be an object: its properties are the parts of the form`);
      return multipart;
    }
    case "xml":
      return { contentType: content.contentType, body: typeof value === "string" ? value : writeXml(content, value) };
    case "text":
      return writeTextBody(content, value);
    case "binary":
      return writeBinary(content, value, problems, at);
  }
}

function written(
  content: CompiledContent,
  body: string | null,
  problems: string[],
  problem: string,
): WrittenBody | null {
  if (body !== null) return { contentType: content.contentType, body };
  problems.push(problem);
  return null;
}

function writeTextBody(content: CompiledContent, value: unknown): WrittenBody {
  const file = isFileObject(value) ? readFileValue(value) : null;
  if (file !== null) return { contentType: file.contentType ?? content.contentType, body: file.bytes };
  return { contentType: content.contentType, body: toText(value) };
}

function writeBinary(content: CompiledContent, value: unknown, problems: string[], at: string): WrittenBody | null {
  const file = readFileValue(value);
  if (file !== null) return { contentType: concreteType(content.contentType, file.contentType), body: file.bytes };
  // The document calls it bytes of a type we do not know, and describes an object: then JSON is the only sensible reading.
  if (isComposite(value) && content.describesObject)
    return {
      contentType: content.contentType.includes("*") ? "application/json" : content.contentType,
      body: JSON.stringify(value),
    };
  problems.push(`${at} ${FILE_EXPECTED}`);
  return null;
}

/** A range such as image/* cannot be sent: the file's own type is, where it is known. */
function concreteType(declared: string, own: string | null): string {
  if (!declared.includes("*")) return own !== null && declared === "application/octet-stream" ? own : declared;
  return own ?? "application/octet-stream";
}
