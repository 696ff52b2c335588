import { expect, test } from "bun:test";
import type { InteractionRow } from "@executor/core/store/tables";
import { askAbout, readAnswer } from "./elicitation.ts";

const row = (more: Partial<InteractionRow> = {}): InteractionRow =>
  ({
    interactionId: "approval_1",
    kind: "approval",
    status: "pending",
    title: "Call a.b",
    detail: "",
    toolPath: "a.b",
    inputJson: '{"x":1}',
    inputDigest: "d",
    why: "default of the source",
    answerSchemaJson: null,
    url: null,
    mayHaveRun: 0,
    ...more,
  }) as InteractionRow;
const both = { form: true, url: true };
const modeOf = (asked: InteractionRow, can = both) => askAbout(asked, can, "http://x/interactions/1")?.mode ?? null;

test("an approval is a form with tool, exact input and reason; one too long to read is a link", () => {
  const question = askAbout(row(), both, "http://x");
  if (question?.mode !== "form") throw new Error("no form");
  for (const part of ["a.b", '{"x":1}', "default of the source"]) expect(question.params.message).toContain(part);
  expect(modeOf(row({ inputJson: JSON.stringify("x".repeat(7_000)) }))).toBe("url");
  expect(modeOf(row({ inputJson: JSON.stringify("x".repeat(7_000)) }), { form: true, url: false })).toBeNull();
});

test("a call that may have happened says so, and what is not seen is made visible", () => {
  const question = askAbout(row({ mayHaveRun: 1, inputJson: '{"x":"a\u202eb"}' }), both, "http://x");
  expect(question?.params.message).toContain("may already have happened");
  expect(question?.params.message).toContain("a\\u202eb");
});

test("secrets and sign-ins are never a form; nor is a question that asks for one, or has more than simple values", () => {
  for (const kind of ["credential", "oauth"]) expect(modeOf(row({ kind }))).toBe("url");
  const question = (schema: object, detail = "Which one?") =>
    row({ kind: "question", detail, answerSchemaJson: JSON.stringify(schema) });
  expect(modeOf(question({ type: "string", enum: ["a", "b"] }))).toBe("form");
  expect(modeOf(question({ type: "string" }, "Your password, please"))).toBe("url");
  expect(modeOf(question({ type: "object", properties: { apiKey: { type: "string" } } }))).toBe("url");
  expect(modeOf(question({ type: "object", properties: { deep: { type: "object" } } }))).toBe("url");
});

test("only a plain yes is a yes", () => {
  const decide = (answer: Parameters<typeof readAnswer>[2], mode: "form" | "url" = "form") =>
    readAnswer(row(), mode, answer);
  expect(decide({ action: "accept", content: { decision: "approve" } })).toMatchObject({ decision: "approved" });
  expect(decide({ action: "accept", content: { decision: "deny", reason: " no " } })).toMatchObject({
    decision: "denied",
  });
  expect(decide({ action: "decline" })).toMatchObject({ decision: "denied" });
  const nothings = [
    undefined,
    {},
    { decision: true },
    { decision: "Approve" },
    { decision: ["approve"] },
    { approve: true },
  ];
  for (const content of nothings) expect(decide({ action: "accept", content } as never)).toEqual({ kind: "nothing" });
  expect(decide({ action: "cancel", content: { decision: "approve" } })).toEqual({ kind: "nothing" });
  // A link that was opened is no yes.
  expect(decide({ action: "accept", content: { decision: "approve" } }, "url")).toEqual({ kind: "nothing" });
});

test("an answer must fit its question", () => {
  const asked = row({ kind: "question", answerSchemaJson: '{"type":"string","enum":["a","b"]}' });
  expect(readAnswer(asked, "form", { action: "accept", content: { answer: "b" } })).toMatchObject({
    answerJson: '"b"',
  });
  expect(readAnswer(asked, "form", { action: "accept", content: { answer: "c" } })).toEqual({ kind: "nothing" });
  expect(readAnswer(asked, "form", { action: "decline" })).toMatchObject({ answerJson: null });
});
