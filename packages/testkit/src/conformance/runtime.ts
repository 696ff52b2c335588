/**
 * What every runtime must do, whatever evaluates the code. A runtime's own test makes one and calls `describeRuntime`.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Runtime } from "@executor/core/ports/runtime";
import { describeDeterminism } from "./runtime/determinism.ts";
import { describeErrors } from "./runtime/errors.ts";
import { GuestBench } from "./runtime/guest-bench.ts";
import { describeHostileCode } from "./runtime/hostile-code.ts";
import { describeLimits } from "./runtime/limits.ts";
import { startMs } from "./runtime/sample-guests.ts";
import { describeTurns } from "./runtime/turns.ts";

export interface RuntimeSuiteOptions {
  /** What an endless loop may cost in a test. */
  cpuMs?: number;
  /** How many cases at a time, where a guest's start is mostly the work of another process. */
  atOnce?: number;
}

export function describeRuntime(
  name: string,
  makeRuntime: () => Promise<Runtime>,
  options: RuntimeSuiteOptions = {},
): void {
  const bench = new GuestBench(options.cpuMs ?? 150);
  const { open } = bench;

  const { atOnce = 1 } = options;
  (atOnce > 1 ? describe.concurrent : describe)(name, () => {
    const slots = new Slots(atOnce);
    beforeEach(() => slots.take());
    afterEach(() => slots.give());
    beforeAll(async () => void (bench.runtime = await makeRuntime()));
    afterAll(() => bench.runtime.close());

    describeTurns(bench);
    describeErrors(bench);
    describeDeterminism(bench);
    describeLimits(bench);
    describeHostileCode(bench);

    test("a closed session takes nothing more; closing twice is fine", async () => {
      const session = await open("await tools.a();");
      await session.advance([]);
      await session.close();
      await session.close();
      expect(session.advance([{ kind: "result", id: 0, json: "1", atMs: startMs }])).rejects.toThrow();
    });

    test("many guests at once keep to themselves", async () => {
      const results = await Promise.all(
        Array.from({ length: 40 }, async (_, index) => {
          const session = await open(`const a = await tools.get({ i: ${index} }); return a + ${index};`);
          const [call] = (await session.advance([])).calls;
          const { end } = await session.advance([
            { kind: "result", id: 0, json: String(JSON.parse(call?.inputJson ?? "{}").i * 100), atMs: startMs },
          ]);
          await session.close();
          return end?.kind === "returned" ? Number(end.resultJson) : end;
        }),
      );
      expect(results).toEqual(Array.from({ length: 40 }, (_, index) => index * 101));
    });
  });
}

/** Bun starts up to 20 cases together; with that many processes each would be too slow for its own time limit. */
class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async take(): Promise<void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }
}
