/** How much waits, beside what it waits at. Nothing when nothing does. */
export function Count({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <span className="rounded-full bg-accent px-1.5 text-xs leading-4.5 font-semibold text-accent-fg tabular-nums">
      {count > 999 ? "999+" : count}
      <span className="sr-only"> waiting</span>
    </span>
  );
}
