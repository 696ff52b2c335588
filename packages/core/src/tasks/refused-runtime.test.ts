/** A runtime that cannot give a guest: the task says why, or goes on when it is worth trying again. */
import { expect, test } from "bun:test";
import { GuestLost, type Runtime, RuntimeRefused } from "../ports/runtime.ts";
import { useTaskHarness } from "@executor/testkit/use-task-harness";

const open = useTaskHarness();
const failing = (errors: Error[]): Runtime => ({
  ...open.runtime,
  open: async (program, signal) => {
    const error = errors.shift();
    if (error) throw error;
    return await open.runtime.open(program, signal);
  },
  close: async () => undefined,
});

test("a refusal ends the task with its reason", async () => {
  const harness = await open([], {}, failing([new RuntimeRefused("The machines are all taken.")]));
  const taskId = await harness.submit("return 1;");
  await harness.run(taskId);
  expect(await harness.read(taskId)).toMatchObject({
    status: "failed",
    error: { code: "runtime.unavailable", message: "The machines are all taken." },
  });
});

test("a guest lost before it began is opened again", async () => {
  const harness = await open([], {}, failing([new GuestLost("no"), new GuestLost("no")]));
  const taskId = await harness.submit("return 1;");
  await harness.run(taskId);
  expect(await harness.read(taskId)).toMatchObject({ status: "completed", result: 1 });
});

test("a run that is called off while its guest is made ready hears of it", async () => {
  const controller = new AbortController();
  const waits: Runtime = {
    ...open.runtime,
    open: (_program, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener("abort", () => reject(new GuestLost("called off")));
        controller.abort("drain");
      }),
  };
  const harness = await open([], {}, waits);
  const taskId = await harness.submit("return 1;");
  expect(await harness.run(taskId, { signal: controller.signal })).toEqual({ kind: "stopped" });
});
