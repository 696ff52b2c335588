/**
 * What a task waits for, as a question that a client shows to its person; and what the person's answer means. Pure. A form is made
 * only where the whole of what is decided can be shown, and never for a secret: everything else gets a link.
 */
import type { ElicitRequestFormParams } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { InteractionRow } from "@executor/core/store/tables";
import { findMisfits } from "../answer-schema.ts";
import { showText } from "./show-text.ts";

export type Question =
  | { mode: "form"; params: Pick<ElicitRequestFormParams, "message" | "requestedSchema"> }
  | { mode: "url"; params: { message: string; url: string } };

export type Meaning =
  | { kind: "decide"; decision: "approved" | "denied"; reason: string | null }
  | { kind: "answer"; answerJson: string | null; reason: string | null }
  /** Nothing was decided; it waits on. */
  | { kind: "nothing" };

/** What a person can be expected to read in a dialog. */
const MAX_INPUT_CHARS = 6_000;
const MAX_REASON = 500;
const SECRET = /passw|secret|token|api[-_ ]?key|credential/i;

/** Null: neither can be shown. */
export function askAbout(row: InteractionRow, can: { form: boolean; url: boolean }, link: string): Question | null {
  const form = can.form ? toForm(row) : null;
  if (form) return { mode: "form", params: form };
  if (!can.url) return null;
  const what = row.kind === "approval" ? "A call needs your decision" : "A task needs something from you";
  return { mode: "url", params: { message: `${what}: ${showText(row.title).slice(0, 300)}`, url: link } };
}

function toForm(row: InteractionRow): Extract<Question, { mode: "form" }>["params"] | null {
  if (row.kind === "approval") return row.inputJson.length > MAX_INPUT_CHARS ? null : approvalForm(row);
  if (row.kind !== "question" && row.kind !== "elicitation") return null;
  if (row.url !== null) return null;
  const schema = answerSchema(row);
  if (schema === null || SECRET.test(JSON.stringify(schema)) || SECRET.test(row.detail)) return null;
  return { message: showText(row.detail || row.title).slice(0, 4_000), requestedSchema: schema };
}

function approvalForm(row: InteractionRow): Extract<Question, { mode: "form" }>["params"] {
  const warning =
    row.mayHaveRun === 1 ? "\nAn interruption hid the outcome: this call may already have happened.\n" : "";
  return {
    message: `Allow this call?\n\nTool: ${showText(row.toolPath)}\nInput: ${showText(row.inputJson)}\nAsked because: ${showText(row.why)}\n${warning}`,
    requestedSchema: {
      type: "object",
      properties: {
        decision: { type: "string", title: "Decision", enum: ["approve", "deny"] },
        reason: { type: "string", title: "Reason (optional)", maxLength: MAX_REASON },
      },
      required: ["decision"],
    },
  };
}

type FormSchema = ElicitRequestFormParams["requestedSchema"];

/** Clients show flat objects of simple values; a single value is put into one. */
function answerSchema({ answerSchemaJson }: InteractionRow): FormSchema | null {
  if (answerSchemaJson === null) return null;
  const schema = JSON.parse(answerSchemaJson) as { type?: unknown; properties?: Record<string, { type?: unknown }> };
  if (schema.type === "string")
    return { type: "object", properties: { answer: schema }, required: ["answer"] } as FormSchema;
  const fields = Object.values(schema.properties ?? {});
  const isFlat =
    fields.length > 0 && fields.every(({ type }) => ["string", "number", "integer", "boolean"].includes(String(type)));
  return schema.type === "object" && isFlat ? (schema as FormSchema) : null;
}

export const ElicitAnswer = z.object({
  action: z.enum(["accept", "decline", "cancel"]),
  content: z.record(z.string(), z.unknown()).optional(),
});
export type ElicitAnswer = z.infer<typeof ElicitAnswer>;

/** A link that was opened, or not, decides nothing: what the person does there does. */
export function readAnswer(
  row: InteractionRow,
  mode: Question["mode"],
  { action, content = {} }: ElicitAnswer,
): Meaning {
  if (mode === "url" || action === "cancel") return { kind: "nothing" };
  if (row.kind === "approval") return readDecision(action, content);
  if (action === "decline") return { kind: "answer", answerJson: null, reason: null };
  const schema = JSON.parse(row.answerSchemaJson ?? "{}") as Record<string, unknown>;
  const answer: unknown = schema["type"] === "string" ? content["answer"] : content;
  if (answer === undefined || findMisfits(schema, answer).length > 0) return { kind: "nothing" };
  return { kind: "answer", answerJson: JSON.stringify(answer), reason: null };
}

function readDecision(action: "accept" | "decline", content: Record<string, unknown>): Meaning {
  const said = content["reason"];
  const reason = typeof said === "string" && said.trim() !== "" ? said.slice(0, MAX_REASON) : null;
  if (action === "decline") return { kind: "decide", decision: "denied", reason };
  if (content["decision"] === "approve") return { kind: "decide", decision: "approved", reason };
  return content["decision"] === "deny" ? { kind: "decide", decision: "denied", reason } : { kind: "nothing" };
}
