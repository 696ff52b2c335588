import { expect, test } from "bun:test";
import { endedStatuses, TaskStatus } from "@executor/contracts/task";
import { canTake, nextStatus, type TaskCause } from "./task-machine.ts";

const causes: TaskCause[] = [
  "claim",
  "pause",
  "pause_answered",
  "answer",
  "release",
  "cancel",
  "completed",
  "failed",
  "timed_out",
  "denied",
];
const allowed: Record<string, string> = {
  "queued claim": "running",
  "queued answer": "queued",
  "queued cancel": "cancelled",
  "running pause": "waiting",
  "running pause_answered": "queued",
  "running answer": "running",
  "running release": "queued",
  "running cancel": "cancelled",
  "running completed": "completed",
  "running failed": "failed",
  "running timed_out": "timed_out",
  "running denied": "denied",
  "waiting answer": "queued",
  "waiting cancel": "cancelled",
};

for (const from of TaskStatus.options) {
  for (const cause of causes) {
    const to = allowed[`${from} ${cause}`];
    test(`a task that is ${from} ${to ? `becomes ${to} by` : "refuses"} ${cause}`, () => {
      expect(canTake(from, cause)).toBe(to !== undefined);
      if (to) expect(nextStatus(from, cause) as string).toBe(to);
      else expect(() => nextStatus(from, cause)).toThrow("task.already_ended");
    });
  }
}

test("nothing leaves an end", () => {
  for (const status of endedStatuses) expect(causes.some((cause) => canTake(status, cause))).toBe(false);
});
