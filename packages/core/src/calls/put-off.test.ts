/** Calls that the other side puts off until a person has done something, and calls that stand for several others. */
import { describe, expect, test } from "bun:test";
import { AppError } from "@executor/contracts/error";
import type { ToolCall } from "@executor/core/tools/tool";
import { createEffects } from "@executor/testkit/tools/effects";
import { result, type TestTool } from "@executor/testkit/tools/test-tools";
import { useTaskHarness } from "@executor/testkit/use-task-harness";

const open = useTaskHarness();

/** Asks once after it was sent, then does what it is told. */
function hesitant(more: Partial<TestTool> = {}): { tool: TestTool; calls: ToolCall[] } {
  const calls: ToolCall[] = [];
  const ask = {
    kind: "elicitation",
    title: "Which region?",
    detail: "",
    answerSchema: { type: "string" },
    url: null,
    stateJson: '{"round":1}',
  } as const;
  const run: TestTool["run"] = (call) => {
    calls.push(call);
    return call.answers.length === 0 ? { kind: "ask", ask } : result({ region: call.answer });
  };
  return { tool: { path: "cloud.start", run, ...more }, calls };
}

describe("a call that is put off after it was sent", () => {
  test("waits for the answer, is sent again with it and with what the asker kept, and is not taken for unknown", async () => {
    const { tool, calls } = hesitant();
    const h = await open([tool]);
    const id = await h.submit("return await tools.cloud.start({})");
    expect(await h.run(id)).toMatchObject({ kind: "paused" });
    const [asked] = (await h.read(id)).pending;
    expect(asked).toMatchObject({ kind: "elicitation", title: "Which region?", mayHaveRun: 0 });
    await h.answer(asked?.interactionId ?? "", "north");
    await h.run(id);
    expect((await h.read(id)).result).toEqual({ region: "north" });
    expect(calls).toHaveLength(2);
    expect(calls[1]?.answers).toEqual([{ kind: "elicitation", answer: "north", stateJson: '{"round":1}' }]);
    expect((await h.calls(id))[0]).toMatchObject({ status: "completed", sends: 1 });
  });

  test("goes on with the yes it was first sent with: nobody is asked twice", async () => {
    const { tool, calls } = hesitant({ approval: "required" });
    const h = await open([tool]);
    const id = await h.submit("return await tools.cloud.start({})");
    await h.run(id);
    await h.decide((await h.read(id)).pending[0]?.interactionId ?? "", "approved");
    await h.run(id);
    const pending = (await h.read(id)).pending;
    expect(pending.map(({ kind }) => kind)).toEqual(["elicitation"]);
    await h.answer(pending[0]?.interactionId ?? "", "north");
    await h.run(id);
    expect((await h.read(id)).result).toEqual({ region: "north" });
    expect(calls).toHaveLength(2);
  });

  test("ends with an error when the code did not wait for it", async () => {
    const { tool } = hesitant();
    const h = await open([tool]);
    const id = await h.submit("tools.cloud.start({}); return 1");
    await h.run(id);
    expect(await h.read(id)).toMatchObject({ status: "completed", result: 1, pending: [] });
    expect((await h.calls(id))[0]).toMatchObject({ status: "failed" });
  });
});

describe("a call that stands for several others", () => {
  const document = () =>
    createEffects("api.document", {
      approval: "required",
      gatePaths: (input) => {
        const { fields } = input as { fields: string[] };
        if (fields.length === 0) throw new AppError("call.input_invalid", "no fields");
        return fields.map((name) => ({
          path: `api.${name}`,
          effect: name.startsWith("query") ? "safe" : "unsafe",
          approval: name.startsWith("query") ? "auto" : "required",
        }));
      },
    });
  const submit = async (fields: string[], policy?: [string, "allow" | "deny"]) => {
    const { tool, happened } = document();
    const h = await open([tool]);
    if (policy) await h.policy(...policy);
    const id = await h.submit(`return await tools.api.document(${JSON.stringify({ fields })})`);
    await h.run(id);
    return { task: await h.read(id), happened };
  };

  test("goes when every part may go", async () => {
    expect((await submit(["query.a", "query.b"])).task.status).toBe("completed");
  });
  test("asks when one part asks", async () => {
    const { task, happened } = await submit(["query.a", "mutation.b"]);
    expect(task.status).toBe("waiting");
    expect(happened).toEqual([]);
  });
  test("is denied when one part is denied, also when the tool itself is allowed", async () => {
    const denied = await submit(["query.a", "query.secret"], ["api.query.secret", "deny"]);
    expect(denied.task.error).toMatchObject({ code: "policy.denied" });
    const asked = await submit(["mutation.b"], ["api.document", "allow"]);
    expect(asked.task.status).toBe("waiting");
  });
  test("is refused when it cannot be taken apart", async () => {
    const { task, happened } = await submit([]);
    expect(task.error).toMatchObject({ code: "call.input_invalid" });
    expect(happened).toEqual([]);
  });
});
