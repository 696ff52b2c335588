/** An event as it goes over the wire. */
import type { TaskEvent } from "@executor/contracts/event";
import type { Row } from "@executor/core/store/tables";
import { toTime } from "./json.ts";

/** `data` is JSON that our own verbs wrote: it is put in as it is, instead of being parsed and written again. */
export function writeEvent(row: Row<"events">, id: number): string {
  const head: Omit<TaskEvent, "data"> = {
    sequence: row.seq,
    workspaceSequence: row.workspaceSeq,
    ...(row.type.startsWith("source.") ? { sourceId: row.taskId } : { taskId: row.taskId }),
    type: row.type as TaskEvent["type"],
    at: toTime(row.at),
  };
  return `id: ${id}\nevent: ${row.type}\ndata: ${JSON.stringify(head).slice(0, -1)},"data":${row.dataJson}}\n\n`;
}
