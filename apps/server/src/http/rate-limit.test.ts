import { expect, test } from "bun:test";
import { RateLimit } from "./rate-limit.ts";

test("a key may use its minute at once, then gets it back evenly", () => {
  let nowMs = 0;
  const limit = new RateLimit(60, () => nowMs);
  for (let count = 0; count < 60; count++) limit.take("a", "requests");
  expect(() => limit.take("a", "requests")).toThrow(/in 1 s/);
  limit.take("b", "requests");
  nowMs += 2_000;
  limit.take("a", "requests");
  limit.take("a", "requests");
  expect(() => limit.take("a", "requests")).toThrow();
});

test("a million keys do not stay in memory", () => {
  let nowMs = 0;
  const limit = new RateLimit(10, () => nowMs);
  const before = process.memoryUsage().heapUsed;
  for (let count = 0; count < 200_000; count++, nowMs += 10) limit.take(`key ${count}`, "requests");
  Bun.gc(true);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(20_000_000);
});

test("what comes together is counted one by one, and a full bucket is enough for it", () => {
  let nowMs = 0;
  const limit = new RateLimit(60, () => nowMs);
  limit.take("a", "requests", 40);
  expect(() => limit.take("a", "requests", 40)).toThrow(/in 20 s/);
  limit.take("a", "requests", 20);
  nowMs += 60_000;
  limit.take("a", "requests", 1_000);
  expect(() => limit.take("a", "requests")).toThrow();
});
