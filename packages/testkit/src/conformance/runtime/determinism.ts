/** The same deliveries give the same turns. */
import { describe, expect, test } from "bun:test";
import type { Delivery, GuestEnd } from "@executor/core/ports/runtime";
import type { GuestBench } from "./guest-bench.ts";
import { absentNames, startMs } from "./sample-guests.ts";

export function describeDeterminism(bench: GuestBench): void {
  const { open, valueOf } = bench;
  describe("determinism", () => {
    test("time stands still between deliveries and is UTC", async () => {
      const session = await open(
        "const t = () => [Date.now(), new Date().getTime(), performance.now(), new Date().getTimezoneOffset()]; const a = t(); for (let i = 0; i < 1e5; i++); const b = t(); await tools.x(); return [a, b, t(), String(new Date(0)).includes('GMT+0000')];",
      );
      await session.advance([]);
      const { end } = await session.advance([{ kind: "result", id: 0, json: "1", atMs: startMs + 1234 }]);
      expect(end?.kind === "returned" && JSON.parse(end.resultJson)).toEqual([
        [startMs, startMs, 0, 0],
        [startMs, startMs, 0, 0],
        [startMs + 1234, startMs + 1234, 1234, 0],
        true,
      ]);
      await session.close();
    });

    test("the same deliveries give the same turns, one by one or all at once; another seed does not", async () => {
      const code = `const out: unknown[] = []; for (let i = 0; i < 4; i++) { const [a, b] = await Promise.all([tools.a({ r: Math.random(), i }), tools.b({ id: crypto.randomUUID() })]); out.push(a, b, Math.random(), Date.now(), [...crypto.getRandomValues(new Uint8Array(4))]); console.log(out.length, new Date()); } return out;`;
      const deliveries = Array.from({ length: 8 }, (_, id): Delivery => ({
        kind: "result",
        id,
        json: `{"n":${id}}`,
        atMs: startMs + id * 7,
      }));
      const play = async (groups: Delivery[][], program = {}) => {
        const session = await open(code, {}, program);
        const calls: unknown[] = [];
        const output: unknown[] = [];
        let end: GuestEnd | undefined;
        for (const group of groups) {
          const turn = await session.advance(group);
          calls.push(...turn.calls.map(({ id, path, inputJson }) => [id, path, inputJson]));
          output.push(...turn.output);
          end = turn.end;
        }
        await session.close();
        return { calls, output, end };
      };
      const single = await play([[], ...deliveries.map((delivery) => [delivery])]);
      expect(single.end?.kind).toBe("returned");
      expect(await play([deliveries])).toEqual(single);
      expect(await play([[], deliveries.slice(0, 3), deliveries.slice(3)])).toEqual(single);
      expect(await play([deliveries], { seed: "ff".repeat(16) })).not.toEqual(single);
    });

    test("what differs from run to run, or reaches outside, is absent", async () => {
      expect(
        await valueOf(
          `return ${JSON.stringify(absentNames)}.filter((name) => name in globalThis || typeof (globalThis as any)[name] !== "undefined")`,
        ),
      ).toEqual([]);
    });
  });
}
