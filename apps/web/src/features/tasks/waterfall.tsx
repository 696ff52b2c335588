/** The calls of a task over time: waiting for people hatched, work solid. Each opens to its input and output. */
import type { Call } from "@executor/client";
import { useMemo, useState } from "react";
import { Badge } from "../../ui/badge.tsx";
import { Icon } from "../../ui/icon.tsx";
import { sayDuration, useNow } from "../../ui/time.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";
import { ValuePart } from "../../ui/value-view.tsx";
import { CALL_TONES } from "./calls-so-far.tsx";
import { type Bar, layOutCalls } from "./lay-out-calls.ts";
import { MAX_CALLS } from "./queries.ts";

const STEP = 100;

export function Waterfall({ calls, total }: { calls: readonly Call[]; total: number }) {
  const isOpen = calls.some(({ finishedAt }) => finishedAt === undefined);
  const now = useNow();
  // The clock matters only while something is under way.
  const until = isOpen ? now : 0;
  const bars = useMemo(() => layOutCalls(calls, until), [calls, until]);
  const [shown, setShown] = useState(STEP);
  if (calls.length === 0) return <p className="px-4 py-3 text-muted">The code has made no call.</p>;
  return (
    <>
      <ol className="divide-y divide-line">
        {calls.slice(0, shown).map((call, at) => (
          <CallRow key={call.callId} call={call} bar={bars[at]} />
        ))}
      </ol>
      {calls.length > shown && (
        <button
          type="button"
          className="w-full border-t border-line px-4 py-2 text-left text-sm text-accent hover:bg-accent-soft"
          onClick={() => setShown(shown + STEP * 5)}
        >
          Show more of {total.toLocaleString("en")} calls
        </button>
      )}
      {shown >= calls.length && total > calls.length && calls.length >= MAX_CALLS && (
        <p className="border-t border-line px-4 py-2 text-sm text-muted">
          {`The first ${MAX_CALLS.toLocaleString("en")} of ${total.toLocaleString("en")} calls. The API lists all of them.`}
        </p>
      )}
    </>
  );
}

function CallRow({ call, bar }: { call: Call; bar: Bar | undefined }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="grid w-full grid-cols-[1rem_minmax(0,1fr)_auto] items-center gap-x-2 px-3 py-1.5 text-left text-sm -outline-offset-2 hover:bg-sunken sm:grid-cols-[1rem_minmax(0,2fr)_minmax(0,3fr)_9.5rem]"
      >
        <Icon name={isOpen ? "down" : "right"} className="size-4 text-muted" />
        <Untrusted text={call.toolPath} className="truncate font-mono" />
        <span aria-hidden="true" className="relative mx-2 h-3 max-sm:hidden">
          <Stretch
            at={bar?.wait}
            className="bg-warn-soft [background-image:repeating-linear-gradient(135deg,transparent_0_3px,var(--warn)_3px_4px)]"
          />
          <Stretch
            at={bar?.run}
            className={call.status === "failed" || call.status === "denied" ? "bg-bad" : "bg-accent"}
          />
        </span>
        <span className="flex items-center justify-end gap-2">
          <span className="text-xs text-muted tabular-nums">{bar && told(bar)}</span>
          <Badge tone={CALL_TONES[call.status]}>{call.status}</Badge>
        </span>
      </button>
      {isOpen && <CallDetail call={call} bar={bar} />}
    </li>
  );
}

const told = ({ ranMs, waitedMs }: Bar): string => (ranMs === 0 && waitedMs > 0 ? "" : sayDuration(ranMs));

function Stretch({ at, className }: { at: { from: number; to: number } | undefined; className: string }) {
  if (!at) return null;
  return (
    <span
      className={`absolute inset-y-0 min-w-0.5 rounded-xs ${className}`}
      style={{ left: `${at.from * 100}%`, width: `${(at.to - at.from) * 100}%` }}
    />
  );
}

function CallDetail({ call, bar }: { call: Call; bar: Bar | undefined }) {
  const left = (bytes: number) => `${bytes.toLocaleString("en")} bytes: too long to show here.`;
  return (
    <div className="flex flex-col gap-3 border-t border-line bg-bg p-3">
      <p className="flex flex-wrap gap-x-4 text-sm text-muted">
        {bar && bar.waitedMs > 0 && <span>waited {sayDuration(bar.waitedMs)} for a person</span>}
        {bar && bar.ranMs > 0 && <span>took {sayDuration(bar.ranMs)}</span>}
        {call.sends > 1 && <span className="text-warn">sent {call.sends} times</span>}
      </p>
      {call.input === undefined ? (
        <p className="text-muted">Input: {left(call.inputBytes)}</p>
      ) : (
        <ValuePart title={`Input of call ${call.ordinal + 1}`} value={call.input} />
      )}
      {call.error && (
        <p className="rounded-lg bg-bad-soft p-3 text-bad">
          <Untrusted text={call.error.code} className="font-mono font-semibold" />:{" "}
          <Untrusted text={call.error.message.slice(0, 4_000)} />
        </p>
      )}
      {call.outputBytes !== undefined &&
        (call.output === undefined ? (
          <p className="text-muted">Output: {left(call.outputBytes)}</p>
        ) : (
          <ValuePart title={`Output of call ${call.ordinal + 1}`} value={call.output} />
        ))}
    </div>
  );
}
