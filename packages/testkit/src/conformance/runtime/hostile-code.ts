/** Nothing of the host is reachable, whatever the code tries. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { transpileTask } from "@executor/runtimes/guest/transpile-task";
import type { GuestBench } from "./guest-bench.ts";
import { escapeAttempts, hostTraces, patchedPrototypes, startMs } from "./sample-guests.ts";

export function describeHostileCode(bench: GuestBench): void {
  const { open, firstTurn, endOf, valueOf } = bench;
  describe("hostile code", () => {
    test.each(escapeAttempts)("stays inside: %s", async (code) => {
      const end =
        await endOf(`const escaped = await (async () => { try { ${code} } catch (e) { return undefined; } })();
        return typeof escaped === "function" || typeof escaped === "object" && escaped !== null ? Object.getOwnPropertyNames(escaped).join() : String(escaped);`);
      const text = end?.kind === "returned" ? String(JSON.parse(end.resultJson)) : "";
      expect(["returned", "stopped", "threw"]).toContain(String(end?.kind));
      expect(text).not.toMatch(hostTraces);
    });

    test.each(patchedPrototypes)("patches stay the guest's own problem: %s", async (code) => {
      const session = await open(`${code}; const a = await tools.x.y({ n: [1, { z: 2 }] }); return a.v;`);
      const first = await session.advance([]);
      expect(first.calls).toMatchObject([{ id: 0, path: "x.y", inputJson: '{"n":[1,{"z":2}]}', after: 0 }]);
      expect((await session.advance([{ kind: "result", id: 0, json: '{"v":5}', atMs: startMs }])).end).toEqual({
        kind: "returned",
        resultJson: "5",
      });
      await session.close();
    });

    test("two guests share nothing", async () => {
      await firstTurn(
        "(globalThis as any).leak = 1; (Object.prototype as any).leak = 1; (Math as any).leak = 1; (tools as any).constructor; return 1;",
      );
      expect(
        await valueOf("return [typeof (globalThis as any).leak, typeof ({} as any).leak, typeof (Math as any).leak]"),
      ).toEqual(["undefined", "undefined", "undefined"]);
    });

    test("no stack shows a path of the host", async () => {
      const text = String(
        await valueOf(
          "const all: unknown[] = [new Error('x').stack]; try { (null as any).x } catch (e: any) { all.push(e.stack) } try { tools() } catch (e: any) { all.push(e.stack) } try { new URL('no') } catch (e: any) { all.push(e.stack) } try { await tools.a(1n as never) } catch (e: any) { all.push(e.stack) } return all.join('\\n');",
        ),
      );
      expect(text).not.toMatch(/\/home|\/tmp|\/usr|node_modules|\.ts\b|file:/);
    });

    test("macros and imports never reach the host", () => {
      for (const code of [
        'import { writeFileSync } from "node:fs" with { type: "macro" }; writeFileSync("/tmp/executor-pwned", "1");',
        '} import { writeFileSync } from "node:fs" with { type: "macro" }; writeFileSync("/tmp/executor-pwned", "1"); {',
        '}); import { writeFileSync } from "node:fs" with { type: "macro" }; writeFileSync("/tmp/executor-pwned", "1"); (async () => {',
      ]) {
        expect(transpileTask(code).ok).toBe(false);
      }
      expect(existsSync("/tmp/executor-pwned")).toBe(false);
    });

    test("dynamic import fails clearly", async () =>
      expect(await endOf("await import('node:fs');")).toMatchObject({
        kind: "threw",
        message: expect.stringContaining("import is not available"),
      }));
  });
}
