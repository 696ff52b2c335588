import { expect, test } from "bun:test";
import { chooseTasks, workspaceShare } from "./choose-tasks.ts";

const queue = (workspaceId: string, count: number, queuedAt = 0) =>
  Array.from({ length: count }, (_, index) => ({
    taskId: `${workspaceId}${index}`,
    workspaceId,
    runtimeId: "in-process",
    queuedAt: queuedAt + index,
  }));
const names = (chosen: { taskId: string }[]) => chosen.map(({ taskId }) => taskId);

test("workspaces take turns, the longest waiting first", () => {
  const chosen = chooseTasks({
    queued: [...queue("a", 5, 10), ...queue("b", 2, 0)],
    running: new Map(),
    freeSlots: 4,
    share: 12,
  });
  expect(names(chosen)).toEqual(["b0", "a0", "b1", "a1"]);
});
test("the workspace with the fewest running is served first", () => {
  const chosen = chooseTasks({
    queued: [...queue("a", 3), ...queue("b", 3, 100)],
    running: new Map([["a", 2]]),
    freeSlots: 3,
    share: 12,
  });
  expect(names(chosen)).toEqual(["b0", "b1", "a0"]);
});
test("one tenant cannot fill all slots, even when nobody else waits", () => {
  const share = workspaceShare(16);
  expect(share).toBe(12);
  expect(chooseTasks({ queued: queue("a", 100), running: new Map(), freeSlots: 16, share })).toHaveLength(12);
});
test("a worker with a single slot still works", () => {
  expect(workspaceShare(1)).toBe(1);
});
