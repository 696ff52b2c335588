/** What a guest throws and what it is thrown. */
import { describe, expect, test } from "bun:test";
import type { Delivery } from "@executor/core/ports/runtime";
import type { GuestBench } from "./guest-bench.ts";
import { thrownValues, startMs } from "./sample-guests.ts";

export function describeErrors(bench: GuestBench): void {
  const { open, firstTurn, endOf } = bench;
  describe("errors", () => {
    const failure: Delivery = {
      kind: "error",
      id: 0,
      error: { code: "call.failed", message: "boom", toolPath: "a.b", status: 502, bodyJson: '{"why":["x"]}' },
      atMs: startMs,
    };

    test("an error outcome is a ToolError with everything on it", async () => {
      const session = await open(
        "try { await tools.a.b(); } catch (e: any) { return [e instanceof ToolError, e instanceof Error, e.name, e.code, e.message, e.toolPath, e.status, e.body]; }",
      );
      await session.advance([]);
      const { end } = await session.advance([failure]);
      expect(end).toEqual({
        kind: "returned",
        resultJson: JSON.stringify([true, true, "ToolError", "call.failed", "boom", "a.b", 502, { why: ["x"] }]),
      });
      await session.close();
    });

    test("an uncaught outcome is known by identity, with the line of the call", async () => {
      for (const [code, callId] of [
        ["await tools.a.b();", 0],
        ["try { await tools.a.b(); } catch (e) { throw e; }", 0],
        ["try { await tools.a.b(); } catch (e: any) { throw new ToolError(e.message); }", undefined],
        [
          "try { await tools.a.b(); } catch (e: any) { throw Object.assign(new Error(e.message), { code: e.code }); }",
          undefined,
        ],
      ] as const) {
        const session = await open(code);
        await session.advance([]);
        const { end } = await session.advance([failure]);
        expect(end?.kind).toBe("threw");
        if (end?.kind === "threw")
          expect({ code, callId: end.callId, message: end.message, line: typeof end.line }).toEqual({
            code,
            callId,
            message: "boom",
            line: "number",
          });
        await session.close();
      }
    });

    test("whatever is thrown gets a name and a message", async () => {
      for (const [code, expected] of thrownValues) {
        const end = await endOf(code);
        expect({ code, end: end?.kind === "threw" ? [end.name, end.message] : end }).toEqual({ code, end: expected });
      }
    });

    test("the engine's own errors keep their name", async () => {
      const end = await endOf("(null as any).x");
      expect(end).toMatchObject({
        kind: "threw",
        name: "TypeError",
        message: expect.stringMatching(/null.*x|x.*null/),
      });
    });

    test("an error in a timer or a microtask ends the guest", async () => {
      const session = await open("setTimeout(() => { throw new TypeError('late'); }, 1); await new Promise(() => {});");
      await session.advance([]);
      expect((await session.advance([{ kind: "timer", id: 0, atMs: startMs }])).end).toMatchObject({
        kind: "threw",
        name: "TypeError",
        message: "late",
      });
      expect(
        await endOf("queueMicrotask(() => { throw new TypeError('micro'); }); await new Promise(() => {});"),
      ).toMatchObject({ kind: "threw", message: "micro" });
    });

    test("an outcome for a call that is not outstanding is a divergence", async () => {
      for (const delivery of [
        { kind: "result", id: 7, json: "1", atMs: startMs },
        { kind: "timer", id: 0, atMs: startMs },
      ] as const) {
        const session = await open("await tools.a();");
        await session.advance([]);
        expect((await session.advance([delivery])).end).toMatchObject({ kind: "stopped", code: "task.diverged" });
        await session.close();
      }
    });

    test("input that is no JSON, or too large, fails in the guest and is no call", async () => {
      for (const [input, code] of [
        ["{ n: 1n }", "call.input_invalid"],
        ["(() => { const o: any = {}; o.o = o; return o; })()", "call.input_invalid"],
        ["() => 1", "call.input_invalid"],
        ["Symbol()", "call.input_invalid"],
        ["'x'.repeat(200000)", "call.input_too_large"],
      ]) {
        const turn = await firstTurn(
          `try { await tools.a.b(${input} as never); } catch (e: any) { return [e instanceof ToolError, e.code, e.toolPath]; }`,
        );
        expect({ input, calls: turn.calls.length, end: turn.end }).toEqual({
          input: input ?? "",
          calls: 0,
          end: { kind: "returned", resultJson: JSON.stringify([true, code, "a.b"]) },
        });
      }
    });

    test("a failed call that nobody awaited is told on stderr", async () => {
      const session = await open("void tools.a.b(); await tools.c(); return 1;");
      await session.advance([]);
      const turn = await session.advance([failure, { kind: "result", id: 1, json: "1", atMs: startMs }]);
      expect(turn.output).toEqual([{ stream: "stderr", text: "[nobody handled this error] ToolError: boom" }]);
    });
  });
}
