/**
 * Asking in revision 2026-07-28: the answer of the call is the questions (`input_required`), and the client comes back with the
 * person's answers and our sealed state. The state says what was asked and for which task; it carries no right of its own.
 */
import { createHash } from "node:crypto";
import { type InputRequest, type InputRequiredResult, inputRequired } from "@modelcontextprotocol/server";
import { z } from "zod";
import { canonicalJson } from "@executor/core/calls/call-key";
import type { Bearer } from "../http/authenticate.ts";
import type { ToAsk, Turn } from "./call-tools.ts";
import { decideByAnswer } from "./decide-by-answer.ts";
import { ElicitAnswer } from "./elicitation.ts";
import type { McpParts } from "./mcp-parts.ts";
import type { Tickets } from "./sealed-tickets.ts";

export const STATE = "mcp-request-state";

export const RequestState = z.strictObject({
  taskId: z.string(),
  /** Of the tool's name and arguments: a state goes with the request it was given for. */
  request: z.string(),
  /** Now. */
  asked: z.array(z.strictObject({ interactionId: z.string(), inputDigest: z.string(), mode: z.enum(["form", "url"]) })),
  /** In earlier rounds. */
  before: z.array(z.string()),
});
export type RequestState = z.infer<typeof RequestState>;

const MAX_ASKED = 10;
const MAX_REMEMBERED = 200;

export const digestRequest = (name: string, input: unknown): string =>
  createHash("sha256")
    .update(canonicalJson([name, input ?? {}]))
    .digest("base64url");

/** Applies the answers that came with a state, then goes on with its task. */
export async function openStatelessTurn(
  parts: McpParts,
  tickets: Tickets,
  caller: Bearer,
  { request, state, answers }: { request: string; state: RequestState | null; answers: Record<string, unknown> },
): Promise<Turn<InputRequiredResult>> {
  for (const asked of state?.asked ?? []) {
    const answer = ElicitAnswer.safeParse(
      Object.hasOwn(answers, asked.interactionId) ? answers[asked.interactionId] : null,
    );
    if (answer.success) await decideByAnswer(parts, caller, asked, answer.data);
  }
  const before = [...(state?.before ?? []), ...(state?.asked ?? []).map(({ interactionId }) => interactionId)];
  return {
    taskId: state?.taskId ?? null,
    isPatient: state?.asked.some(({ mode }) => mode === "url") === true,
    wasAsked: (interactionId) => before.includes(interactionId),
    isOpen: () => false,
    async ask(taskId, questions) {
      const asked = questions.slice(0, MAX_ASKED);
      const next: RequestState = {
        taskId,
        request,
        asked: asked.map(({ row: { interactionId, inputDigest }, question: { mode } }) => ({
          interactionId,
          inputDigest,
          mode,
        })),
        before: before.slice(-MAX_REMEMBERED),
      };
      const requestState = await tickets.seal(STATE, caller, next);
      const inputRequests = Object.fromEntries(
        asked.map(({ row, question }) => [row.interactionId, toRequest(question)]),
      );
      return { kind: "left", result: inputRequired({ inputRequests, requestState }) };
    },
  };
}

const toRequest = ({ mode, params }: ToAsk["question"]): InputRequest =>
  mode === "form" ? inputRequired.elicit(params) : inputRequired.elicitUrl(params);
