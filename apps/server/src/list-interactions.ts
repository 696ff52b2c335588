/**
 * One page of what tasks wait for. Inputs may be 10 MB each, so the page also ends when it holds enough: rows are read
 * a few at a time, and the rest is left to the next cursor.
 */
import type { Store } from "@executor/core/ports/store";
import type { InteractionRead } from "@executor/core/store/verbs/reads";
import { DEFAULT_PAGE, readCursor, TimeMark, toPage } from "./http/pages.ts";

const ROWS_PER_READ = 20;
const MAX_PAGE_LENGTH = 4_000_000;

export interface ListInteractions {
  workspaceId: string;
  approvalsOnly: boolean;
  status?: string | undefined;
  taskId?: string | undefined;
  limit?: number | undefined;
  cursor?: string | undefined;
}

export async function listInteractions<Item>(
  store: Store,
  asked: ListInteractions,
  present: (read: InteractionRead) => Item,
): Promise<{ items: Item[]; nextCursor?: string }> {
  const limit = asked.limit ?? DEFAULT_PAGE;
  const mark = readCursor(TimeMark, asked.cursor);
  let after = mark && { createdAt: mark[0], interactionId: mark[1] };
  const found: InteractionRead[] = [];
  let length = 0;
  while (found.length <= limit && length <= MAX_PAGE_LENGTH) {
    const ask = Math.min(ROWS_PER_READ, limit + 1 - found.length);
    const rows = await store.listInteractions({
      workspaceId: asked.workspaceId,
      status: asked.status ?? null,
      approvalsOnly: asked.approvalsOnly,
      taskId: asked.taskId ?? null,
      after,
      limit: ask,
    });
    for (const row of rows) length += row.interaction.inputJson.length;
    found.push(...rows);
    if (rows.length < ask) return toPage(found, limit, present, markOf);
    const last = found.at(-1)?.interaction;
    after = last ? { createdAt: last.createdAt, interactionId: last.interactionId } : after;
  }
  // Cut off by size: all but one are shown, so that the next page has where to go on from.
  return toPage(found, Math.max(1, Math.min(limit, found.length - 1)), present, markOf);
}

const markOf = ({ interaction }: InteractionRead) => [interaction.createdAt, interaction.interactionId];
