/** A source as callers see it: no secret, no inline document, its errors and warnings in full. */
import type { Source } from "@executor/contracts/source";
import type { PublicDefinition } from "@executor/core/ports/source";
import type { SourceRow } from "@executor/core/store/tables";
import { parseJson, present, timeOrNull, toTime } from "./json.ts";

export function presentSource(row: SourceRow): Source {
  const definition = parseJson(row.definitionJson) as PublicDefinition;
  const { namespace: _n, name: _m, type: _t, command, args, env, cwd: _c, shared: _s, spec, ...open } = definition;
  const health = row.artifact === null && row.health !== "failing" ? "indexing" : row.health;
  const error =
    row.errorJson === null ? null : (parseJson(row.errorJson) as { code: string; message: string; at: number });
  return {
    ...open,
    sourceId: row.sourceId,
    workspaceId: row.workspaceId,
    type: row.type as Source["type"],
    name: row.name,
    namespace: row.namespace,
    ...(command !== undefined && { command: commandLine(command, args ?? [], env ?? {}) }),
    ...(typeof spec === "string" && { spec }),
    origin: row.origin as Source["origin"],
    health: health as Source["health"],
    toolCount: row.toolCount,
    warnings: parseJson(row.warningsJson) as string[],
    createdAt: toTime(row.createdAt),
    ...present({ title: row.title, indexedAt: timeOrNull(row.indexedAt) }),
    ...(row.progressJson !== null && { progress: parseJson(row.progressJson) as NonNullable<Source["progress"]> }),
    ...(error && { lastError: { ...error, at: toTime(error.at) } }),
    ...(row.changesJson !== null &&
      row.changedAt !== null && {
        changes: {
          ...(parseJson(row.changesJson) as { added: number; removed: number; changed: number }),
          at: toTime(row.changedAt),
        },
      }),
  };
}

/** Everything that is run, so that a person sees it; values of the environment may be private, their names are not. */
function commandLine(command: string, args: readonly string[], env: Readonly<Record<string, string>>): string {
  const quote = (part: string): string => (/^[\w@%+=:,./-]+$/.test(part) ? part : `'${part.replaceAll("'", "'\\''")}'`);
  return [...Object.keys(env).map((name) => `${name}=…`), ...[command, ...args].map(quote)].join(" ");
}
