/** Puts alike approvals together when there are many, oldest first. A call that may have happened already always stands alone. */
import type { Approval } from "@executor/client";

export interface Row {
  key: string;
  approvals: readonly [Approval, ...Approval[]];
}

/** Fewer are quicker to read one by one. */
export const MANY = 3;

export function groupApprovals(approvals: readonly Approval[], opened: ReadonlySet<string>): Row[] {
  const groups = new Map<string, [Approval, ...Approval[]]>();
  for (const approval of approvals) {
    const key = approval.mayHaveRun ? approval.approvalId : alikeKey(approval);
    const group = groups.get(key);
    if (group) group.push(approval);
    else groups.set(key, [approval]);
  }
  return [...groups].flatMap(([key, members]): Row[] => {
    const single = (approval: Approval): Row => ({ key: approval.approvalId, approvals: [approval] });
    if (members.length < MANY) return members.map(single);
    return opened.has(key) ? [{ key, approvals: members }, ...members.map(single)] : [{ key, approvals: members }];
  });
}

/** The same tool, asked for by the same actor. */
const alikeKey = ({ toolPath, task }: Approval): string => `group:${toolPath}:${task?.actorId ?? ""}`;

export const isGroup = (row: Row): boolean => row.key.startsWith("group:");
