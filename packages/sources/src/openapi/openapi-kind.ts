/**
 * OpenAPI 3.0 to 3.2 and Swagger 2.0 as a kind of source. Reading: load-document.ts, then index-document.ts in one pass; other
 * documents are brought in only where there are references to them. Calling is in invoke/.
 */
import { AppError } from "@executor/contracts/error";
import type { ReadIo, SourceIndex, LoadedKind, SourceSpec } from "@executor/core/ports/source";
import { hasExternalRefs } from "./external-refs.ts";
import { indexDocument } from "./index-document.ts";
import { loadDocument, type LoadedDocument } from "./load-document.ts";
import { openIndex } from "./open-index.ts";
import { repeatedPaths } from "./parse-yaml.ts";
import { probeDocument } from "./probe-document.ts";
import { documentUrls, isRecord, quote } from "./raw-document.ts";
import { mentionsIds, resolveIds } from "./resolve-ids.ts";
import { serverHosts } from "./server-hosts.ts";

export const openapiKind: LoadedKind = {
  type: "openapi",
  read: readSource,
  probe: probeDocument,
  hosts: serverHosts,
  open: openIndex,
};

async function readSource(source: SourceSpec, io: ReadIo): Promise<SourceIndex> {
  const loaded = await loadDocument(source.definition, io);
  if (mayHaveIds(loaded.root) && mentionsIds(loaded.text))
    resolveIds({ root: loaded.root, urls: documentUrls(loaded.root, loaded.url), warn: () => undefined });
  const { root, warnings } = await withExternal(loaded, io);
  io.onProgress({ phase: "indexing" });
  const repeated = loaded.contentType === "application/yaml" ? repeatedPaths(loaded.text) : [];
  const index = indexDocument({
    root,
    documentUrl: loaded.url,
    isPublic: loaded.isPublic,
    warnings: [...warnings, ...versionWarnings(root), ...repeated],
  });
  if (index.tools.length === 0 && !isRecord(root.paths) && !isRecord(root.webhooks) && !isRecord(root.components)) {
    throw new AppError(
      "source.unreadable",
      "The document has no paths, so there is nothing to call. Is it the right document?",
    );
  }
  io.onProgress({ phase: "indexing", done: index.tools.length, total: index.tools.length });
  const noTools = index.tools.length === 0 ? ["The document has no operations."] : [];
  return {
    ...index,
    warnings: [...noTools, ...index.warnings],
    document: { contentType: loaded.contentType, text: loaded.text },
  };
}

/** Schemas have had ids since 3.1; looking for them in the text of a large document costs milliseconds. */
const mayHaveIds = ({ openapi, swagger }: Record<string, unknown>): boolean =>
  swagger === undefined && !/^3\.0(?:\.|$)/.test(String(openapi));

async function withExternal(
  loaded: LoadedDocument,
  io: ReadIo,
): Promise<{ root: Record<string, unknown>; warnings: string[] }> {
  if (!hasExternalRefs(loaded.text, loaded.contentType)) return { root: loaded.root, warnings: [] };
  const { bundleExternal } = await import("./bundle-external.ts");
  return await bundleExternal(loaded, io);
}

function versionWarnings(root: Record<string, unknown>): string[] {
  const version = String(root.openapi ?? root.swagger ?? "");
  if (/^(?:3(?:\.[012](?:\.|$)|$)|2(?:\.0)?$)/.test(version)) return [];
  return [
    `The version ${quote(version)} is unknown; the document is read as ${root.swagger === undefined ? "OpenAPI 3" : "Swagger 2.0"}.`,
  ];
}
