/** What waits for a person, kept true by events: one that was decided leaves at once, one that is new is read alone. */
import type { Approval, Interaction, TaskEvent } from "@executor/client";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { executor, keys, queryClient } from "../../api.ts";
import { useStore } from "../../store.ts";
import { held } from "./outbox.ts";

/** More than anyone decides one by one; the rest comes up as these are decided. */
export const MAX_SHOWN = 1_000;
const PAGE = 200;
/** More new ones at once than this are read as a list. */
const FEW = 8;

export const approvalsQuery = queryOptions({
  queryKey: keys.approvals,
  queryFn: async ({ signal }): Promise<readonly Approval[]> => {
    const found: Approval[] = [];
    for await (const approval of executor().approvals.each({ status: "pending", limit: PAGE }, { signal })) {
      found.push(approval);
      if (found.length >= MAX_SHOWN) break;
    }
    return found;
  },
});

/** What else waits: approvals are interactions too, and left out here. */
export const othersQuery = queryOptions({
  queryKey: keys.interactions,
  queryFn: async ({ signal }): Promise<readonly Interaction[]> => {
    const { items } = await executor().interactions.list({ status: "pending", limit: PAGE }, { signal });
    return items.filter(({ kind }) => kind !== "approval");
  },
});

export function useWaitingCount(): number {
  const approvals = useQuery(approvalsQuery).data ?? [];
  const others = useQuery(othersQuery).data ?? [];
  const isHeld = useStore(held);
  return approvals.filter(({ approvalId }) => !isHeld.has(approvalId)).length + others.length;
}

export function takeNews(events: readonly TaskEvent[]): void {
  const resolved = idsOf(events, "approval.resolved");
  if (resolved.size > 0) forget(resolved);
  const asked = [...idsOf(events, "approval.requested")].filter((id) => !resolved.has(id));
  if (asked.length > FEW) void queryClient.invalidateQueries({ queryKey: keys.approvals });
  else for (const id of asked) void readOne(id);
  if (events.some(({ type }) => type.startsWith("interaction.")))
    void queryClient.invalidateQueries({ queryKey: keys.interactions });
}

export function forget(approvalIds: ReadonlySet<string>): void {
  queryClient.setQueryData(approvalsQuery.queryKey, (old) =>
    old?.filter(({ approvalId }) => !approvalIds.has(approvalId)),
  );
}

async function readOne(approvalId: string): Promise<void> {
  try {
    const approval = await executor().approvals.get(approvalId);
    if (approval.status !== "pending") return;
    queryClient.setQueryData(approvalsQuery.queryKey, (old) => {
      if (!old || old.some((known) => known.approvalId === approvalId)) return old;
      return [...old, approval].toSorted((a, b) => a.createdAt.localeCompare(b.createdAt));
    });
  } catch {
    // Gone meanwhile, or the line broke: then everything is read again when it is back.
    void queryClient.invalidateQueries({ queryKey: keys.approvals });
  }
}

const idsOf = (events: readonly TaskEvent[], type: TaskEvent["type"]): Set<string> =>
  new Set(events.flatMap((event) => (event.type === type ? String(event.data["interactionId"]) : [])));
