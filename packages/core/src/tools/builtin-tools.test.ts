/** The built-in tools as a guest sees them. */
import { describe, expect, test } from "bun:test";
import { createEffects } from "@executor/testkit/tools/effects";
import { useTaskHarness } from "@executor/testkit/use-task-harness";

const open = useTaskHarness();

describe("human.ask", () => {
  test("waits for a person and goes on with the answer", async () => {
    const h = await open();
    const id = await h.submit(
      "const answer = await tools.human.ask({ question: 'Which one?', options: ['a', 'b'] }); return { answer }",
    );
    await h.run(id);
    const [asked] = (await h.read(id)).pending;
    expect(asked).toMatchObject({ kind: "question", title: "Which one?" });
    expect(JSON.parse(asked?.answerSchemaJson ?? "")).toEqual({ type: "string", enum: ["a", "b"] });
    await h.answer(asked?.interactionId ?? "", "b");
    await h.run(id);
    expect((await h.read(id)).result).toEqual({ answer: "b" });
  });
  test("a policy can make it ask for approval first", async () => {
    const h = await open();
    await h.policy("human.ask", "require_approval");
    const id = await h.submit("return await tools.human.ask({ question: 'Sure?' })");
    await h.run(id);
    await h.decide((await h.read(id)).pending[0]?.interactionId ?? "", "approved");
    await h.run(id);
    const [asked] = (await h.read(id)).pending;
    expect(asked?.kind).toBe("question");
    await h.answer(asked?.interactionId ?? "", "yes");
    await h.run(id);
    expect((await h.read(id)).result).toBe("yes");
  });
});

describe("discovery", () => {
  test("finds, describes and lists what the caller may use, and nothing that is denied", async () => {
    const h = await open([
      createEffects("bank.pay", { description: "Pay a bill", approval: "required" }).tool,
      createEffects("bank.rob", { description: "Rob the bank" }).tool,
    ]);
    await h.policy("bank.rob", "deny");
    const id = await h.submit(`
      const found = await tools.discover({ query: "pay bill" });
      const detail = await tools.describe.tool({ path: found.bestPath, includeSchemas: true });
      const { namespaces } = await tools.catalog.namespaces();
      const { tools: bank } = await tools.catalog.tools({ namespace: "bank" });
      let missing; try { await tools.bank.pya({}) } catch (error) { missing = error.message }
      return { found, detail, namespaces, bank: bank.map((tool: any) => tool.path), missing };`);
    await h.run(id);
    const { found, detail, namespaces, bank, missing } = (await h.read(id)).result as Record<string, never>;
    expect(found).toMatchObject({
      bestPath: "bank.pay",
      total: 1,
      results: [{ path: "bank.pay", approval: "required", description: "Pay a bill" }],
    });
    expect(detail).toMatchObject({ path: "bank.pay", effect: "unsafe" });
    expect(namespaces).toContainEqual({ namespace: "bank", tools: 1 } as never);
    expect(bank).toEqual(["bank.pay"] as never);
    expect(missing as unknown as string).toContain("bank.pay");
  });
  test("discovery can be denied but never asks", async () => {
    const h = await open();
    await h.policy("discover", "require_approval");
    await h.policy("catalog.*", "deny");
    const id = await h.submit("await tools.discover({ query: 'echo' }); return await tools.catalog.namespaces()");
    await h.run(id);
    expect(await h.read(id)).toMatchObject({
      status: "denied",
      error: { code: "policy.denied", toolPath: "catalog.namespaces" },
    });
  });
});
