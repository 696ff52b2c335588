/** A harness per test and an engine per file, made and taken away by the test runner: `const open = useTaskHarness();`. */
import { afterAll, afterEach, beforeAll } from "bun:test";
import type { Runtime } from "@executor/core/ports/runtime";
import { createTestRuntime, type HarnessOptions, openTaskHarness, type TaskHarness } from "./task-harness.ts";
import type { TestTool } from "./tools/test-tools.ts";

export interface UsedHarness {
  (tools?: TestTool[], limits?: HarnessOptions["limits"], engine?: Runtime): Promise<TaskHarness>;
  /** The engine of this file; there is one once a test runs. */
  readonly runtime: Runtime;
}

export function useTaskHarness(): UsedHarness {
  let runtime: Runtime;
  const opened: TaskHarness[] = [];
  beforeAll(() => {
    runtime = createTestRuntime();
  });
  afterAll(() => runtime.close());
  afterEach(async () => {
    for (const harness of opened.splice(0)) await harness.close();
  });
  const open = async (
    tools: TestTool[] = [],
    limits: HarnessOptions["limits"] = {},
    engine = runtime,
  ): Promise<TaskHarness> => {
    const harness = await openTaskHarness({ runtime: engine, tools: () => tools, limits });
    opened.push(harness);
    return harness;
  };
  return Object.defineProperty(open, "runtime", { get: () => runtime }) as UsedHarness;
}
