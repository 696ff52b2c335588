/**
 * The tools of an index that was read before. Opening does nothing but keep what it is given; the meta text is parsed when the
 * first tool is looked at, an operation when that tool is, a component when a reference leads to it.
 */
import type { IndexedTool, OpenedIndex, SourceTools } from "@executor/core/ports/source";
import type { OpenapiMeta } from "./index-document.ts";
import type { Operation, Resolve } from "./operation.ts";
import { toolShape } from "./tool-shape.ts";

export function openIndex(opened: OpenedIndex): SourceTools {
  let meta: OpenapiMeta | null = null;
  let loaded: Promise<Loaded> | null = null;
  const operations = new Map<string, Operation>();
  const getMeta = (): OpenapiMeta => (meta ??= JSON.parse(opened.metaJson) as OpenapiMeta);
  const load = (): Promise<Loaded> => {
    loaded ??= opened.details().then((details) => ({ details, resolve: resolver(details, getMeta()) }));
    // A failed load is tried again by the next caller.
    loaded.catch(() => (loaded = null));
    return loaded;
  };
  const operationOf = (tool: IndexedTool, details: string): Operation => {
    const key = `${tool.at} ${tool.length}`;
    const known = operations.get(key);
    if (known) return known;
    const parsed = JSON.parse(details.slice(tool.at, tool.at + tool.length)) as Operation;
    const operation = parsed.servers ? parsed : { ...parsed, servers: getMeta().servers };
    if (operations.size >= maxOperations) operations.clear();
    operations.set(key, operation);
    return operation;
  };
  return {
    async shape(tool) {
      const { details, resolve } = await load();
      return toolShape(operationOf(tool, details), resolve);
    },
    async isOpen(tool) {
      const { details } = await load();
      return operationOf(tool, details).open === true;
    },
    async prepare(tool, call, io) {
      const { details, resolve } = await load();
      const { definition } = opened.source;
      const { prepareOperation } = await import("./invoke/prepare-operation.ts");
      return await prepareOperation({
        operation: operationOf(tool, details),
        resolve,
        baseUrl: definition.baseUrl ?? null,
        documentUrl: getMeta().documentUrl,
        documentIsPublic: getMeta().isPublic === true,
        serverVariables: definition.serverVariables ?? {},
        headers: definition.headers ?? {},
        call,
        io,
        safe: tool.effect === "safe",
      });
    },
  };
}

interface Loaded {
  details: string;
  resolve: Resolve;
}

const maxOperations = 256;
const maxComponents = 2_000;

function resolver(details: string, meta: OpenapiMeta): Resolve {
  let table: Map<string, [at: number, length: number]> | null = null;
  const parsed = new Map<string, unknown>();
  const getTable = (): Map<string, [number, number]> => {
    if (table) return table;
    const rows = JSON.parse(details.slice(meta.tableAt, meta.tableAt + meta.tableLength)) as (string | number)[];
    table = new Map();
    for (let at = 0; at < rows.length; at += 3)
      table.set(rows[at] as string, [rows[at + 1] as number, rows[at + 2] as number]);
    return table;
  };
  return (ref) => {
    const known = parsed.get(ref);
    if (known !== undefined) return known;
    const place = getTable().get(ref);
    if (!place) return null;
    const value: unknown = JSON.parse(details.slice(place[0], place[0] + place[1]));
    if (parsed.size >= maxComponents) parsed.clear();
    parsed.set(ref, value);
    return value;
  };
}
