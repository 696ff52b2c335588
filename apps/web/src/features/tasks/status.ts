/** The status of a task in words and colour. */
import type { TaskStatus } from "@executor/client";
import type { Tone } from "../../ui/badge.tsx";

export type { TaskStatus };

export const STATUSES: Record<TaskStatus, { label: string; tone: Tone }> = {
  queued: { label: "queued", tone: "neutral" },
  running: { label: "running", tone: "accent" },
  waiting: { label: "waits for a person", tone: "warn" },
  completed: { label: "completed", tone: "ok" },
  failed: { label: "failed", tone: "bad" },
  timed_out: { label: "timed out", tone: "bad" },
  denied: { label: "denied", tone: "bad" },
  cancelled: { label: "cancelled", tone: "neutral" },
};

export const isTaskStatus = (value: unknown): value is TaskStatus =>
  typeof value === "string" && Object.hasOwn(STATUSES, value);
