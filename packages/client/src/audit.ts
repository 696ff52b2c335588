/** Who did, asked, decided what, when. Append-only; for admins. */
import type { AuditEntry } from "@executor/contracts/identity";
import type { Connection } from "./connection.ts";
import type { Query } from "./endpoints.ts";
import type { RequestOptions } from "./http.ts";
import { eachItem, type Page } from "./pages.ts";

export type AuditFilter = Omit<Query<"listAudit">, "workspaceId" | "format">;

export function createAudit({ http }: Connection) {
  const list = (filter: AuditFilter = {}, { signal }: RequestOptions = {}): Promise<Page<AuditEntry>> =>
    http.call("listAudit", { query: filter, signal });
  return {
    list,
    /** All that match, page after page. */
    each: (filter: AuditFilter = {}, options: RequestOptions = {}) =>
      eachItem((cursor) => list({ ...filter, cursor }, options), filter.cursor),
  };
}
