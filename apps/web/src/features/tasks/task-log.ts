/** What a task printed, as it prints it: its own event stream, open while somebody looks and the task has more to say. */
import { useEffect, useState } from "react";
import { executor } from "../../api.ts";

export interface LogLine {
  sequence: number;
  stream: "stdout" | "stderr";
  text: string;
  at: string;
}

const SHOW_MS = 80;

export function useTaskLog(taskId: string): readonly LogLine[] {
  const [lines, setLines] = useState<readonly LogLine[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    const found: LogLine[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = () => {
      timer = undefined;
      setLines([...found]);
    };
    const listen = async () => {
      for await (const event of executor().tasks.events(taskId, { signal: stop.signal })) {
        if (event.type !== "task.stdout" && event.type !== "task.stderr") continue;
        const stream = event.type === "task.stdout" ? "stdout" : "stderr";
        found.push({ sequence: event.sequence, stream, text: String(event.data["text"]), at: event.at });
        timer ??= setTimeout(show, SHOW_MS);
      }
    };
    // A task that cannot be read says so where its head is read.
    listen().catch(() => undefined);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [taskId]);
  return lines;
}
