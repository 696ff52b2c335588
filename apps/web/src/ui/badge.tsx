/** A word about the state of something, with a colour that says the same again. */
import type { ReactNode } from "react";

export type Tone = "neutral" | "accent" | "ok" | "warn" | "bad";

const LOOKS: Record<Tone, string> = {
  neutral: "bg-sunken text-muted",
  accent: "bg-accent-soft text-accent",
  ok: "bg-ok-soft text-ok",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
};

export function Badge({ tone = "neutral", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={`inline-flex items-center gap-1 rounded-full px-2 py-px text-xs font-medium whitespace-nowrap ${LOOKS[tone]}`}
    >
      {children}
    </span>
  );
}
