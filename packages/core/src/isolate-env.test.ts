import { expect, test } from "bun:test";
import { readIsolateEnv } from "./isolate-env.ts";

test("nothing set: one warm process, at most 32, tokens for a day", () => {
  expect(readIsolateEnv({ EXECUTOR_ISOLATE_USER: " " })).toEqual({
    user: null,
    enginePath: null,
    unsandboxed: false,
    maxProcesses: 32,
    warm: 1,
    idleMs: 600_000,
    tokenLifetimeMs: 86_400_000,
    tokenMaxUses: 0,
  });
});

test.each([
  ["EXECUTOR_ISOLATE_UNSANDBOXED", "yes"],
  ["EXECUTOR_ISOLATE_MAX_PROCESSES", "0"],
  ["EXECUTOR_ISOLATE_WARM", "many"],
  ["EXECUTOR_ISOLATE_IDLE_MS", "-1"],
  ["EXECUTOR_ISOLATE_TOKEN_MS", "5"],
  ["EXECUTOR_ISOLATE_ENGINE", "deno"],
])("%s=%s is refused by name", (name, value) => {
  expect(() => readIsolateEnv({ [name]: value })).toThrow(name);
});
