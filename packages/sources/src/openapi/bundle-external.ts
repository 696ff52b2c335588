/**
 * Brings what a document refers to in other files and at other addresses into the document itself. Slow and rare: loaded only
 * when a document has such references. Every read goes through `io.fetch`, files only where the caller may reach this machine;
 * how many and how much is bounded. What cannot be had stays as it is, with a warning.
 */
import SwaggerParser from "@apidevtools/swagger-parser";
import type { ReadIo } from "@executor/core/ports/source";
import { fetchDocument, loadFile, type LoadedDocument } from "./load-document.ts";
import { documentUrls, isRecord, localRef, quote, record, type RawDocument } from "./raw-document.ts";

const maxFiles = 50;
const maxTotalChars = 30_000_000;

export interface Bundled {
  root: Record<string, unknown>;
  warnings: string[];
}

export async function bundleExternal(loaded: LoadedDocument, io: ReadIo): Promise<Bundled> {
  const warnings: string[] = [];
  let files = 0;
  let chars = 0;
  const read = async (file: { url: string }): Promise<unknown> => {
    try {
      if (loaded.url === null && file.url.startsWith(nowhere))
        throw new Error("the document has no address of its own");
      if (++files > maxFiles) throw new Error(`more than ${maxFiles} other documents`);
      const isFile = /^file:/i.test(file.url);
      // Only a file leads to other files: what came over the network has no say in what is read here.
      if (isFile && !/^file:/i.test(loaded.url ?? ""))
        throw new Error("a document that is no file of this machine may not refer to one");
      const part = isFile
        ? await loadFile(file.url, io, anything)
        : await fetchDocument(file.url, bare(io, loaded.url, file.url), {
            check: anything,
            // A document that came from the internet has no business with what runs on this machine.
            publicOnly: loaded.isPublic,
          });
      chars += part.text.length;
      if (chars > maxTotalChars) throw new Error("the other documents are too large");
      return part.text;
    } catch (error) {
      warnings.push(
        `${quote(file.url.split("?", 1)[0] as string)} cannot be read: ${error instanceof Error ? error.message.slice(0, 200) : "unknown"}.`,
      );
      throw error;
    }
  };
  const guarded = { order: 1, canRead: true, read };
  const parser = new SwaggerParser();
  try {
    // The parser changes what it is given, and gives up in the middle: it works on a copy.
    const copy = JSON.parse(JSON.stringify(loaded.root)) as Record<string, unknown>;
    if (!leadsOut({ root: copy, urls: documentUrls(copy, loaded.url), warn: () => undefined }))
      return { root: loaded.root, warnings };
    // Its own ways to files and the network are off: ours is the only one.
    const resolve = { file: false, http: false, guarded } as never;
    const known = { ...copy, ...acceptable(copy) } as unknown as Parameters<typeof parser.bundle>[0];
    const bundled: unknown = await parser.bundle(loaded.url ?? `${nowhere}openapi.json`, known, { resolve });
    if (isRecord(bundled)) return { root: restored(bundled, loaded.root), warnings };
  } catch (error) {
    if (warnings.length === 0) warnings.push(`References to other documents cannot be followed: ${firstLine(error)}.`);
  }
  return { root: loaded.root, warnings };
}

/** References by a full address may lead back into the document itself: they are made local, and the question is what is left. */
function leadsOut(document: RawDocument): boolean {
  let isOut = false;
  const open: object[] = [document.root];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const [key, value] of Object.entries(at)) {
      // Azure's documents keep hundreds of examples in files beside them.
      if (key === "x-ms-examples") {
        Reflect.deleteProperty(at, key);
        continue;
      }
      if (typeof value === "object" && value !== null) open.push(value);
      if (key !== "$ref" || typeof value !== "string") continue;
      const local = localRef(document, value);
      if (local === null) isOut = true;
      else Reflect.set(at, key, local);
    }
  }
  return isOut;
}

/** What the parser insists on before it looks at a document: a version it knows, an `info`, `paths`. */
function acceptable(root: Record<string, unknown>): Record<string, unknown> {
  const version = root.openapi === undefined && root.swagger !== undefined ? { swagger: "2.0" } : { openapi: "3.1.0" };
  return { ...version, info: { title: "", version: "", ...record(root.info) }, paths: record(root.paths) };
}

function restored(bundled: Record<string, unknown>, root: Record<string, unknown>): Record<string, unknown> {
  const own = Object.entries({ openapi: root.openapi, swagger: root.swagger, info: root.info });
  return { ...bundled, ...Object.fromEntries(own.filter(([, value]) => value !== undefined)) };
}

const nowhere = "https://inline.invalid/";
const anything = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
const firstLine = (error: unknown): string =>
  (error instanceof Error ? (error.message.split("\n", 1)[0] as string) : "unknown").slice(0, 200);

/** The credential is for the document's own origin; another one must not see it. */
function bare(io: ReadIo, home: string | null, url: string): ReadIo {
  const isSame =
    home !== null && URL.canParse(home) && URL.canParse(url) && new URL(home).origin === new URL(url).origin;
  return isSame ? io : { ...io, auth: { parts: [], secrets: [] } };
}
