/** Is there an OpenAPI document at this address, or where such documents usually lie on the same origin? A few looks, no more. */
import { AppError } from "@executor/contracts/error";
import type { ProbeFinding, PublicAuth, ReadIo } from "@executor/core/ports/source";
import { indexDocument } from "./index-document.ts";
import { fetchDocument, type LoadedDocument } from "./load-document.ts";
import { record, text } from "./raw-document.ts";

export async function probeDocument(url: string, io: ReadIo): Promise<ProbeFinding | null> {
  if (!/^https?:/i.test(url) || !URL.canParse(url)) return null;
  const direct = await look(url, io);
  if (direct) return finding(url, direct, 1);
  for (const path of usualPaths) {
    if (io.signal.aborted) return null;
    const there = new URL(path, url).href;
    const loaded = there === url ? null : await look(there, io);
    if (loaded) return finding(there, loaded, 0.9);
  }
  return null;
}

const usualPaths = [
  "/openapi.json",
  "/swagger.json",
  "/v3/api-docs",
  "/openapi.yaml",
  "/api/openapi.json",
  "/swagger/v1/swagger.json",
  "/api-docs",
  "/v2/api-docs",
];

async function look(url: string, io: ReadIo): Promise<LoadedDocument | null> {
  try {
    return await fetchDocument(url, io);
  } catch (error) {
    // Whatever the other side answers is only "no"; what we ourselves got wrong is not.
    if (error instanceof AppError || io.signal.aborted || error instanceof TypeError) return null;
    throw error;
  }
}

function finding(url: string, loaded: LoadedDocument, confidence: number): ProbeFinding {
  const { root } = loaded;
  const index = indexDocument({ root, documentUrl: loaded.url, warnings: [] });
  const isSwagger = root.swagger !== undefined;
  const version = text(isSwagger ? root.swagger : root.openapi)
    .split(".")
    .slice(0, 2)
    .join(".");
  const name = (index.title || new URL(url).hostname).slice(0, 100);
  const types = authTypes(root, isSwagger);
  return {
    type: "openapi",
    confidence,
    name,
    transport: `${isSwagger ? "swagger" : "openapi"}-${version || "unknown"}`,
    definition: { type: "openapi", name, spec: url },
    auth: {
      required: types.length > 0,
      types,
      detail: types.length > 0 ? `The document names ${types.join(", ")}.` : "The document names no security scheme.",
    },
    toolCount: index.tools.length,
    warnings: index.warnings,
  };
}

function authTypes(root: Record<string, unknown>, isSwagger: boolean): PublicAuth["type"][] {
  const schemes = record(isSwagger ? root.securityDefinitions : record(root.components).securitySchemes);
  const types = new Set<PublicAuth["type"]>();
  for (const value of Object.values(schemes)) {
    const { type, scheme } = record(value);
    if (type === "oauth2" || type === "openIdConnect") types.add("oauth2");
    else if (type === "apiKey") types.add("apiKey");
    else if (type === "basic" || (type === "http" && text(scheme).toLowerCase() === "basic")) types.add("basic");
    else if (type === "http" && text(scheme).toLowerCase() === "bearer") types.add("bearer");
  }
  return [...types];
}
