import { expect, test } from "bun:test";
import { GuestTimers } from "./guest-timers.ts";

test("due timers come in the order of their time, then of setting", () => {
  const timers = new GuestTimers();
  for (const [id, dueMs] of [
    [0, 30],
    [1, 10],
    [2, 20],
    [3, 10],
    [4, 99],
  ] as const)
    timers.set(id, dueMs);
  expect(timers.nextDueMs()).toBe(10);
  expect(timers.takeDue(30)).toEqual([1, 3, 2, 0]);
  expect(timers.takeDue(30)).toEqual([]);
  expect(timers.nextDueMs()).toBe(99);
});
test("a cleared timer is gone, and one that never was is no matter", () => {
  const timers = new GuestTimers();
  timers.set(0, 1);
  timers.set(1, 2);
  timers.clear(0);
  timers.clear(77);
  expect(timers.nextDueMs()).toBe(2);
  timers.clear(1);
  expect(timers.nextDueMs()).toBeNull();
});
test("very many timers are no trouble", () => {
  const timers = new GuestTimers();
  for (let id = 0; id < 100_000; id++) timers.set(id, (id * 7919) % 1_000);
  const due = timers.takeDue(1_000);
  expect(due).toHaveLength(100_000);
  expect(due.map((id) => (id * 7919) % 1_000)).toEqual(due.map((id) => (id * 7919) % 1_000).toSorted((a, b) => a - b));
});
