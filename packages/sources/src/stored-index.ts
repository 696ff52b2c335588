/**
 * An index as it lies in the store: one artifact under the digest of what it holds, in parts of bounded size. First the head
 * (all that opening and searching need), then the details (schemas and bindings), then the document as it came. Each section is
 * compressed by itself, so that opening a source never touches the other two.
 */
import { createHash } from "node:crypto";
import { AppError } from "@executor/contracts/error";
import type { IndexedTool, SourceIndex } from "@executor/core/ports/source";
import type { Store } from "@executor/core/ports/store";

/** A part is a row: it stays well under a megabyte in every store. */
const PART_LENGTH = 240_000;
const PARTS_AT_ONCE = 16;

/** What is loaded when a source is opened. */
export interface IndexHead {
  tools: IndexedTool[];
  title: string;
  warnings: string[];
  metaJson: string;
}

type ArtifactStore = Pick<Store, "putArtifactPart" | "readArtifact" | "readArtifactParts">;
interface Layout {
  /** Parts of each section, in order: head, details, document. */
  sections: [number, number, number];
  documentType: string | null;
}
type Section = 0 | 1 | 2;

/**
 * Gives the digest. Writing what is there already costs one read. `repair`: what is there under that digest was found damaged, so it is
 * written under another one.
 */
export async function saveIndex(store: ArtifactStore, index: SourceIndex, now: number, repair = ""): Promise<string> {
  const { tools, title, warnings, metaJson, details, document } = index;
  const head: IndexHead = { tools, title, warnings, metaJson };
  const texts = [JSON.stringify(head), details, document?.text ?? ""] as const;
  const digest = digestOf([...texts, document?.contentType ?? "", ...(repair === "" ? [] : [repair])]);
  if (await store.readArtifact({ digest })) return digest;
  const [heads = [], detail = [], doc = []] = texts.map((text) => split(pack(text)));
  const layout: Layout = {
    sections: [heads.length, detail.length, doc.length],
    documentType: document?.contentType ?? null,
  };
  const parts = [JSON.stringify(layout), ...heads, ...detail, ...doc];
  const bytes = parts.reduce((total, part) => total + part.length, 0);
  for (const [part, body] of parts.entries())
    await store.putArtifactPart({ digest, part, parts: parts.length, bytes, body, now });
  return digest;
}

export async function loadHead(store: ArtifactStore, digest: string): Promise<IndexHead> {
  return JSON.parse(await loadSection(store, digest, 0)) as IndexHead;
}

/** Null: it is damaged, and reading the source again is the way to another one. */
export async function loadWholeHead(store: ArtifactStore, digest: string): Promise<IndexHead | null> {
  try {
    const [head] = await Promise.all([loadHead(store, digest), loadDetails(store, digest)]);
    return head;
  } catch (error) {
    // The store cannot be asked: that says nothing about what lies in it.
    if (error instanceof AppError) throw error;
    return null;
  }
}

export const loadDetails = (store: ArtifactStore, digest: string): Promise<string> => loadSection(store, digest, 1);

export async function loadDocument(
  store: ArtifactStore,
  digest: string,
): Promise<{ contentType: string; text: string } | null> {
  const { documentType } = await loadLayout(store, digest);
  return documentType === null ? null : { contentType: documentType, text: await loadSection(store, digest, 2) };
}

/** A single text by its digest: documents that were given inline. */
export async function saveText(store: ArtifactStore, text: string, now: number): Promise<string> {
  const index = {
    tools: [],
    title: "",
    warnings: [],
    metaJson: "{}",
    details: "",
    document: { contentType: "text/plain", text },
  };
  return await saveIndex(store, index, now);
}

async function loadSection(store: ArtifactStore, digest: string, section: Section): Promise<string> {
  const { sections } = await loadLayout(store, digest);
  const from = 1 + sections.slice(0, section).reduce((total, count) => total + count, 0);
  const parts: string[] = [];
  while (parts.length < sections[section]) {
    const limit = Math.min(PARTS_AT_ONCE, sections[section] - parts.length);
    const read = await store.readArtifactParts({ digest, from: from + parts.length, limit });
    if (read.length === 0) throw new Error(`artifact ${digest} lacks parts`);
    parts.push(...read);
  }
  return unpack(parts.join(""));
}

async function loadLayout(store: ArtifactStore, digest: string): Promise<Layout> {
  const [layout] = await store.readArtifactParts({ digest, from: 0, limit: 1 });
  if (layout === undefined) throw new Error(`artifact ${digest} is not there`);
  return JSON.parse(layout) as Layout;
}

/** Lengths first: no two different lists of texts give the same bytes. */
function digestOf(texts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(`${text.length}:`).update(text);
  return hash.digest("hex");
}

const pack = (text: string): string =>
  text === "" ? "" : Buffer.from(Bun.zstdCompressSync(Buffer.from(text), { level: 3 })).toString("base64");
const unpack = (packed: string): string =>
  packed === "" ? "" : Buffer.from(Bun.zstdDecompressSync(Buffer.from(packed, "base64"))).toString("utf8");

function split(text: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length; at += PART_LENGTH) parts.push(text.slice(at, at + PART_LENGTH));
  return parts;
}
