/** A person's yes or no to one call. Deciding needs a reviewer; `remember` (it writes a policy) an admin. */
import type { Approval } from "@executor/contracts/approval";
import type { Connection } from "./connection.ts";
import type { Answer, Body, Query } from "./endpoints.ts";
import type { RequestOptions } from "./http.ts";
import { eachItem, type Page } from "./pages.ts";

export type ApprovalFilter = Omit<Query<"listApprovals">, "workspaceId">;
export type DecideOptions = Pick<Body<"decideApproval">, "reason" | "remember"> & RequestOptions;
export type DecidedApproval = Answer<"decideApproval">;

export function createApprovals({ http, workspaceId }: Connection) {
  const list = (filter: ApprovalFilter = {}, { signal }: RequestOptions = {}): Promise<Page<Approval>> =>
    http.call("listApprovals", { query: filter, signal });

  const decide = async (
    approvalId: string,
    decision: "approved" | "denied",
    { signal, ...rest }: DecideOptions,
  ): Promise<DecidedApproval> => {
    const body = { workspaceId: await workspaceId(), decision, ...rest };
    return http.call("decideApproval", { params: { approvalId }, body, signal });
  };

  return {
    list,
    /** All that match, page after page. */
    each: (filter: ApprovalFilter = {}, options: RequestOptions = {}) =>
      eachItem((cursor) => list({ ...filter, cursor }, options), filter.cursor),
    get: (approvalId: string, { signal }: RequestOptions = {}): Promise<Approval> =>
      http.call("readApproval", { params: { approvalId }, signal }),
    approve: (approvalId: string, options: DecideOptions = {}) => decide(approvalId, "approved", options),
    deny: (approvalId: string, options: DecideOptions = {}) => decide(approvalId, "denied", options),
  };
}
