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
    const found: LogLine[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    let after: number | undefined;
    let isOver = false;
    let stop: AbortController | null = null;
    const show = () => {
      timer = undefined;
      setLines([...found]);
    };
    const listen = async (signal: AbortSignal) => {
      for await (const event of executor().tasks.events(taskId, { signal, ...(after !== undefined && { after }) })) {
        after = event.sequence;
        if (event.type !== "task.stdout" && event.type !== "task.stderr") continue;
        const stream = event.type === "task.stdout" ? "stdout" : "stderr";
        found.push({ sequence: event.sequence, stream, text: String(event.data["text"]), at: event.at });
        timer ??= setTimeout(show, SHOW_MS);
      }
      isOver = true;
    };
    // A browser opens few connections to one host: a tab that nobody looks at keeps none of them.
    const follow = () => {
      stop?.abort();
      if (document.hidden || isOver) return;
      stop = new AbortController();
      // A task that cannot be read says so where its head is read.
      listen(stop.signal).catch(() => undefined);
    };
    follow();
    document.addEventListener("visibilitychange", follow);
    return () => {
      stop?.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", follow);
    };
  }, [taskId]);
  return lines;
}
