/** Times as people say them, with the exact one at hand. One clock for the whole page ticks them. */
import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** To the second. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now);

const UNITS: [string, number][] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
];

/** `3 min`, `2 h 5 min`: the two greatest units of a long time, one of a short. */
export function sayDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const at = UNITS.findIndex(([, size]) => ms >= size);
  const [unit, size] = UNITS[at] ?? ["s", 1_000];
  const whole = Math.floor(ms / size);
  const next = UNITS[at + 1];
  if (unit === "s") return ms < 10_000 ? `${(ms / 1_000).toFixed(1)} s` : `${whole} s`;
  const rest = next ? Math.floor((ms % size) / next[1]) : 0;
  return rest > 0 && next && (unit !== "min" || whole < 10)
    ? `${whole} ${unit} ${rest} ${next[0]}`
    : `${whole} ${unit}`;
}

const exactly = (at: string): string => new Date(at).toLocaleString();

/** Drawn again only when the words change: hundreds of them may be on a page. */
function useSaid(say: (now: number) => string): string {
  return useSyncExternalStore(subscribe, () => say(now));
}

const sayWhole = (ms: number): string => sayDuration(Math.floor(ms / 1_000) * 1_000).replace(/\.\d s/, " s");

export function TimeAgo({ at }: { at: string }) {
  const since = Date.parse(at);
  const said = useSaid((clock) => (clock - since < 5_000 ? "just now" : `${sayWhole(clock - since)} ago`));
  return (
    <time dateTime={at} title={exactly(at)} className="whitespace-nowrap tabular-nums">
      {said}
    </time>
  );
}

const SOON_MS = 600_000;

export function Countdown({ to }: { to: string }) {
  const until = Date.parse(to);
  const said = useSaid((clock) => (until <= clock ? "expired" : `expires in ${sayWhole(until - clock)}`));
  const isSoon = useSaid((clock) => (until - clock < SOON_MS ? "soon" : "")) !== "";
  return (
    <time
      dateTime={to}
      title={exactly(to)}
      className={`whitespace-nowrap tabular-nums ${isSoon ? "font-medium text-bad" : ""}`}
    >
      {said}
    </time>
  );
}
