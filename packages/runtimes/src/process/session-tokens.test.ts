import { expect, test } from "bun:test";
import { SessionTokens } from "./session-tokens.ts";

const run = { runId: "run_1", taskId: "task_1" };

test("a token is bound to its run and task", () => {
  const tokens = new SessionTokens();
  const token = tokens.mint(run);
  expect(token.length).toBeGreaterThanOrEqual(43);
  expect(tokens.use(token, run)).toBe(true);
  expect(tokens.use(token, { ...run, runId: "run_2" })).toBe(false);
  expect(tokens.use(token, { ...run, taskId: "task_2" })).toBe(false);
  expect(tokens.use(`${token}x`, run)).toBe(false);
  expect(tokens.use(token, run)).toBe(true);
});

test("a token lives a day unless told otherwise, and an expired one is dropped", () => {
  let now = 0;
  const tokens = new SessionTokens({ nowMs: () => now });
  const token = tokens.mint(run);
  now = 24 * 3_600_000 - 1;
  expect(tokens.use(token, run)).toBe(true);
  now += 1;
  expect(tokens.use(token, run)).toBe(false);
  expect(tokens.size).toBe(0);
});

test("a token with a number of uses is used up; a refused use does not count", () => {
  const tokens = new SessionTokens({ maxUses: 2 });
  const token = tokens.mint(run);
  expect(tokens.use(token, { ...run, runId: "other" })).toBe(false);
  expect([tokens.use(token, run), tokens.use(token, run), tokens.use(token, run)]).toEqual([true, true, false]);
});

test("a revoked token is dead", () => {
  const tokens = new SessionTokens();
  const token = tokens.mint(run);
  tokens.revoke(token);
  expect(tokens.use(token, run)).toBe(false);
});
