/** Calls that the other side puts off until a person has done something, and calls that stand for several others. */
import { describe, expect, test } from "bun:test";
import { AppError } from "@executor/contracts/error";
import type { Answered, ToolCall, ToolOutcome } from "@executor/core/tools/tool";
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

/** Happens when it is called, asks in the middle, and goes on with the answer; `die` is the end of the worker that holds it. */
function asksInTheMiddle(more: Partial<TestTool> = {}) {
  const happened: unknown[] = [];
  const open = new Map<string, ToolCall>();
  const heard: unknown[] = [];
  const ask = { kind: "elicitation", title: "Sure?", detail: "", answerSchema: null, url: null } as const;
  const goOn = ({ callId, answers }: ToolCall): ToolOutcome => {
    open.delete(callId);
    const { answer, refused } = answers.at(-1) as Answered;
    heard.push(refused ?? answer);
    return refused ? { ok: false, code: "call.upstream_error", message: "not confirmed" } : result({ answer });
  };
  const tool: TestTool = {
    path: "shop.buy",
    run(call) {
      happened.push(call.input);
      if (call.answers.length > 0) return goOn(call);
      open.set(call.callId, call);
      return { kind: "ask", ask, isOpen: true };
    },
    openCall(callId) {
      const call = open.get(callId);
      const giveUp = async () => goOn({ ...(call as ToolCall), answers: [{ ...nobody, refused: "cancel" }] });
      return call ? { goOn: async (again) => goOn(again), giveUp } : null;
    },
    ...more,
  };
  return { tool, happened, heard, open, die: () => open.clear() };
}
const nobody: Answered = { kind: "elicitation", answer: undefined, stateJson: null };

describe("a call that is asked something in the middle", () => {
  const started = async (more: Partial<TestTool> = {}) => {
    const parts = asksInTheMiddle(more);
    const h = await open([parts.tool]);
    const id = await h.submit("try { return await tools.shop.buy({ n: 1 }) } catch (error) { return error.code }");
    expect(await h.run(id)).toMatchObject({ kind: "paused" });
    const pending = async () => (await h.read(id)).pending;
    const approve = async (decision: "approved" | "denied") =>
      await h.decide((await pending())[0]?.interactionId ?? "", decision);
    if (more.approval) {
      await approve("approved");
      await h.run(id);
    }
    const [question] = await pending();
    expect(question).toMatchObject({ kind: "elicitation" });
    return { ...parts, h, id, pending, approve, questionId: question?.interactionId ?? "" };
  };

  test.each([{}, { approval: "required" }, { effect: "safe", approval: "required" }] as const)(
    "goes on with the answer, and is sent once (%o)",
    async (more) => {
      const { h, id, questionId, happened } = await started(more);
      await h.answer(questionId, "yes");
      await h.run(id);
      expect(await h.read(id)).toMatchObject({ status: "completed", result: { answer: "yes" } });
      expect(happened).toHaveLength(1);
      expect((await h.calls(id))[0]).toMatchObject({ status: "completed", sends: 1 + ("effect" in more ? -1 : 0) });
    },
  );
  test("is an unknown outcome when it is gone: a person hears that it may have happened, and a yes sends it with the answer", async () => {
    const { h, id, questionId, happened, die, pending, approve } = await started({ approval: "required" });
    die();
    await h.answer(questionId, "yes");
    expect(await h.run(id)).toMatchObject({ kind: "paused" });
    expect(await pending()).toMatchObject([{ kind: "approval", mayHaveRun: 1 }]);
    expect(happened).toHaveLength(1);
    await approve("approved");
    await h.run(id);
    expect(await h.read(id)).toMatchObject({ result: { answer: "yes" } });
    expect(happened).toHaveLength(2);
  });
  test("gives call.outcome_unknown when it is gone and a person does not want it sent again", async () => {
    const { h, id, questionId, happened, die, approve } = await started();
    die();
    await h.answer(questionId, "yes");
    await h.run(id);
    await approve("denied");
    await h.run(id);
    expect(await h.read(id)).toMatchObject({ result: "call.outcome_unknown" });
    expect(happened).toHaveLength(1);
  });
  test("is sent again when it is gone and changes nothing, and nobody is asked", async () => {
    const { h, id, questionId, happened, die } = await started({ effect: "safe", approval: "required" });
    die();
    await h.answer(questionId, "yes");
    await h.run(id);
    expect(await h.read(id)).toMatchObject({ result: { answer: "yes" } });
    expect(happened).toHaveLength(2);
  });
  test("hears at once that a person declined, and the code is told the same", async () => {
    const { h, id, questionId, heard, open } = await started();
    await h.answer(questionId, null);
    await h.run(id);
    expect(await h.read(id)).toMatchObject({ result: "approval.denied" });
    expect(heard).toEqual(["decline"]);
    expect(open.size).toBe(0);
  });
  test("that is gone when a person declines is unknown, not denied, and nobody is asked more", async () => {
    const { h, id, questionId, happened, die } = await started();
    die();
    await h.answer(questionId, null);
    await h.run(id);
    expect(await h.read(id)).toMatchObject({ status: "completed", result: "call.outcome_unknown" });
    expect(happened).toHaveLength(1);
  });
  test("that is gone still waits for its question when the task comes back for something else", async () => {
    const { tool, die, happened } = asksInTheMiddle();
    const h = await open([tool]);
    await h.policy("executor.echo", "require_approval");
    const id = await h.submit(
      "return (await Promise.all([tools.shop.buy({ n: 1 }), tools.executor.echo({ value: 2 })])).length",
    );
    await h.run(id);
    die();
    const asked = (await h.read(id)).pending;
    await h.decide(asked.find(({ kind }) => kind === "approval")?.interactionId ?? "", "approved");
    expect(await h.run(id)).toMatchObject({ kind: "paused" });
    expect((await h.read(id)).pending).toMatchObject([{ kind: "elicitation" }]);
    expect(happened).toHaveLength(1);
  });
  test("is refused as unknown when a rule denies it meanwhile, and the other side need not wait", async () => {
    const { h, id, questionId, heard } = await started();
    await h.policy("shop.*", "deny");
    await h.answer(questionId, "yes");
    await h.run(id);
    expect(await h.read(id)).toMatchObject({ result: "call.outcome_unknown" });
    expect(heard).toEqual(["cancel"]);
  });
  test("is given up when the code does not wait for it", async () => {
    const { tool, heard, open: waiting } = asksInTheMiddle();
    const h = await open([tool]);
    const id = await h.submit("tools.shop.buy({ n: 1 }); return 1");
    await h.run(id);
    expect(await h.read(id)).toMatchObject({ status: "completed", result: 1, pending: [] });
    expect(heard).toEqual(["cancel"]);
    expect(waiting.size).toBe(0);
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
