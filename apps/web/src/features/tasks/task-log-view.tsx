/** The console output of a task. Follows its end while one looks at the end. */
import { useEffect, useRef, useState } from "react";
import { LongText } from "../../ui/untrusted.tsx";
import { useTaskLog } from "./task-log.ts";

/** The last ones; a task may print tens of thousands. */
const SHOWN = 1_000;

export function TaskLogView({ taskId }: { taskId: string }) {
  const lines = useTaskLog(taskId);
  const [shown, setShown] = useState(SHOWN);
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const element = box.current;
    if (element && isAtEnd.current) element.scrollTop = element.scrollHeight;
  }, [lines]);
  if (lines.length === 0) return <p className="px-4 py-3 text-muted">Nothing was printed.</p>;
  const hidden = Math.max(0, lines.length - shown);
  return (
    <div
      ref={box}
      role="log"
      aria-label="Output of the task"
      tabIndex={0}
      className="max-h-96 overflow-auto bg-sunken py-2 font-mono text-sm -outline-offset-2"
      onScroll={({ currentTarget: at }) => {
        isAtEnd.current = at.scrollHeight - at.scrollTop - at.clientHeight < 24;
      }}
    >
      {hidden > 0 && (
        <button type="button" className="px-4 py-1 text-accent" onClick={() => setShown(shown + SHOWN * 5)}>
          {`Show ${hidden.toLocaleString("en")} earlier lines`}
        </button>
      )}
      {lines.slice(hidden).map(({ sequence, stream, text, at }) => (
        <div key={sequence} className={`flex gap-3 px-4 ${stream === "stderr" ? "bg-bad-soft text-bad" : ""}`}>
          <time dateTime={at} className="shrink-0 text-muted select-none max-sm:hidden">
            {at.slice(11, 23)}
          </time>
          <span className="min-w-0 flex-1">
            {stream === "stderr" && <span className="sr-only">error: </span>}
            <LongText text={text} />
          </span>
        </div>
      ))}
    </div>
  );
}
