/** The calls of a task in short: what, how it went, how long. */
import type { Call, CallStatus } from "@executor/client";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { sayDuration } from "../../ui/time.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";

export const CALL_TONES: Record<CallStatus, Tone> = {
  requested: "neutral",
  waiting: "warn",
  sent: "accent",
  completed: "ok",
  failed: "bad",
  denied: "bad",
  cancelled: "neutral",
};

const SHOWN = 8;

export function CallsSoFar({ calls }: { calls: readonly Call[] }) {
  if (calls.length === 0) return <p className="px-4 py-3 text-muted">No other call yet.</p>;
  const last = calls.slice(-SHOWN);
  return (
    <ol className="divide-y divide-line">
      {calls.length > last.length && (
        <li className="px-4 py-1.5 text-sm text-muted">{calls.length - last.length} earlier calls</li>
      )}
      {last.map((call) => (
        <li key={call.callId} className="flex items-center gap-3 px-4 py-1.5 text-sm">
          <Untrusted text={call.toolPath} className="min-w-0 flex-1 truncate font-mono" />
          {call.error && <Untrusted text={call.error.code} className="text-xs text-bad" />}
          <span className="text-xs text-muted tabular-nums">{durationOf(call)}</span>
          <Badge tone={CALL_TONES[call.status]}>{call.status}</Badge>
        </li>
      ))}
    </ol>
  );
}

function durationOf({ sentAt, finishedAt }: Call): string {
  return sentAt && finishedAt ? sayDuration(Date.parse(finishedAt) - Date.parse(sentAt)) : "";
}
