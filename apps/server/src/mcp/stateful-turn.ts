/**
 * Asking in revision 2025-11-25: a request to the client on the stream of the call. Its id is a sealed ticket, so that the answer can
 * be understood by whichever instance gets it, and only in the session that was asked. The call does not depend on it:
 * it goes on when the task does, and comes back in time when nobody answers.
 */
import { z } from "zod";
import type { Bearer } from "../http/authenticate.ts";
import type { ToAsk, Turn } from "./call-tools.ts";
import { type Asked, decideByAnswer } from "./decide-by-answer.ts";
import { ElicitAnswer } from "./elicitation.ts";
import type { McpCall, McpParts } from "./mcp-parts.ts";
import type { Tickets } from "./sealed-tickets.ts";
import { watchTask } from "./watch-task.ts";

const QUESTION = "mcp-elicitation";
const PREFIX = "ask.";
const MAX_ASKED = 10;

const Ticket = z.strictObject({
  session: z.string(),
  interactionId: z.string(),
  inputDigest: z.string(),
  mode: z.enum(["form", "url"]),
});

export interface ElicitMessage {
  jsonrpc: "2.0";
  id: string;
  method: "elicitation/create";
  params: Record<string, unknown>;
}

/** What one session of this instance has asked and not heard of. */
export class OpenQuestions {
  readonly #waiting = new Map<string, (decided: boolean) => void>();

  wait(id: string, onAnswer: (decided: boolean) => void): () => void {
    this.#waiting.set(id, onAnswer);
    return () => this.#waiting.delete(id);
  }

  tell(id: string, decided: boolean): void {
    this.#waiting.get(id)?.(decided);
    this.#waiting.delete(id);
  }
}

export interface StatefulAsker {
  sessionHash: string;
  questions: OpenQuestions;
  /** On the stream of the call. */
  send(message: ElicitMessage): Promise<void>;
}

export interface StatefulTurn extends Turn<never> {
  /** The call is over: answers that come later still count, but nobody waits for them. */
  close(): void;
}

export function openStatefulTurn(parts: McpParts, tickets: Tickets, call: McpCall, asker: StatefulAsker): StatefulTurn {
  const asked = new Set<string>();
  const open = new Map<string, () => void>();
  let ring: (() => void) | undefined;

  const askOne = async ({ row: { interactionId, inputDigest }, question }: ToAsk): Promise<void> => {
    asked.add(interactionId);
    const ticket = { session: asker.sessionHash, interactionId, inputDigest, mode: question.mode };
    const id = PREFIX + (await tickets.seal(QUESTION, call.caller, ticket));
    const forget = asker.questions.wait(id, () => {
      open.delete(id);
      ring?.();
    });
    open.set(id, forget);
    await asker.send({ jsonrpc: "2.0", id, method: "elicitation/create", params: toParams(question, interactionId) });
  };

  return {
    taskId: null,
    isPatient: false,
    wasAsked: (interactionId) => asked.has(interactionId),
    isOpen: () => open.size > 0,
    async ask(taskId, questions, untilMs) {
      for (const each of questions.slice(0, MAX_ASKED)) await askOne(each);
      // A decision moves the task; all answered without one (a person turned away) ends the wait too.
      await watchTask(parts, call, taskId, {
        untilMs,
        isEnough: ({ status }) => status !== "waiting" || open.size === 0,
        wake: (bell) => (ring = bell),
      });
      return { kind: "waited" };
    },
    close() {
      for (const forget of open.values()) forget();
    },
  };
}

const toParams = ({ mode, params }: ToAsk["question"], elicitationId: string): Record<string, unknown> =>
  mode === "form" ? { mode, ...params } : { mode, ...params, elicitationId };

/** An answer of the client to one of our questions: true when the message was one, whatever it said. */
export async function takeAnswer(
  parts: McpParts,
  tickets: Tickets,
  caller: Bearer,
  { sessionHash, questions }: Pick<StatefulAsker, "sessionHash" | "questions">,
  message: Record<string, unknown>,
): Promise<boolean> {
  const { id, method } = message;
  if (method !== undefined || typeof id !== "string" || !id.startsWith(PREFIX)) return false;
  const ticket = await tickets.open(QUESTION, caller, id.slice(PREFIX.length), Ticket);
  if (!ticket || ticket.session !== sessionHash) return true;
  const answer = ElicitAnswer.safeParse(message["result"]);
  const asked: Asked = ticket;
  const decided = answer.success && (await decideByAnswer(parts, caller, asked, answer.data));
  questions.tell(id, decided);
  return true;
}
