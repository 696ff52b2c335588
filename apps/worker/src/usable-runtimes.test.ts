/** Runtimes that become usable later are used then. */
import { expect, test } from "bun:test";
import { createLogger } from "@executor/core/log";
import type { Runtime, RuntimeAvailability } from "@executor/core/ports/runtime";
import { UsableRuntimes } from "./usable-runtimes.ts";

const runtime = (id: string, availability: () => RuntimeAvailability): Runtime => ({
  id,
  label: id,
  description: id,
  preludeVersion: 1,
  availability: async () => availability(),
  open: () => Promise.reject(new Error("not here")),
  close: async () => undefined,
});

test("one that is not usable is asked again until it is, and why not is said when it changes", async () => {
  const fires: (() => void)[] = [];
  const host = { setTimer: (_ms: number, fire: () => void) => (fires.push(fire), () => undefined) };
  const lines: string[] = [];
  const answers: RuntimeAvailability[] = [
    { available: false, reason: "a" },
    { available: false, reason: "a" },
    { available: false, reason: "b" },
    { available: true },
  ];
  const runtimes = new UsableRuntimes(
    [runtime("always", () => ({ available: true })), runtime("later", () => answers.shift() ?? { available: true })],
    host,
    createLogger((line) => lines.push(line), Date.now),
  );
  let woken = 0;
  await runtimes.look(() => woken++);
  expect(runtimes.ids).toEqual(["always"]);
  await Bun.sleep(1);
  for (const _ of answers.slice()) {
    fires.shift()?.();
    await Bun.sleep(1);
  }
  expect(runtimes.ids).toEqual(["always", "later"]);
  expect([woken, fires.length]).toEqual([2, 0]);
  expect(lines.map((line) => JSON.parse(line)).map(({ msg, reason }) => [msg, reason])).toEqual([
    ["runtime.unavailable", "a"],
    ["runtime.unavailable", "b"],
    ["runtime.available", undefined],
  ]);
});

test("one that takes its time does not keep the others waiting", async () => {
  const slow = Promise.withResolvers<RuntimeAvailability>();
  const runtimes = new UsableRuntimes(
    [
      { ...runtime("slow", () => ({ available: true })), availability: () => slow.promise },
      runtime("quick", () => ({ available: true })),
    ],
    { setTimer: () => () => undefined },
    createLogger(() => undefined, Date.now),
  );
  await runtimes.look(() => undefined);
  expect(runtimes.ids).toEqual(["quick"]);
  slow.resolve({ available: true });
  await Bun.sleep(1);
  expect(runtimes.ids).toEqual(["quick", "slow"]);
});
