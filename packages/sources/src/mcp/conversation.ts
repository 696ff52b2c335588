/**
 * One call in which a server of 2025-11-25 may ask a person something. While the person thinks, the call stays open and waits here:
 * the run has ended, the worker is free, and when the run comes again with the answer the very same call goes on. When the
 * call cannot be found again (another worker, a restart, too long a wait) it is sent anew with all the answers; the open one is
 * told that nobody answered, so it is not done twice.
 */
import type { CallIo } from "@executor/core/ports/source";
import type { Ask, Sent, ToolCall } from "@executor/core/tools/tool";
import { type CalledTool, callTool, refusedCall } from "./call-tool.ts";
import type { Session } from "./connect.ts";
import { digestOf, type ElicitAnswer, type Elicitation, refusalOf, toAnswer, toAsk } from "./elicitation.ts";

/** How long a person may take for the call to be still there. */
const PATIENCE_MS = 10 * 60_000;

interface OpenQuestion {
  request: Elicitation;
  reply(answer: ElicitAnswer): void;
}

export class Conversation {
  readonly #tool: CalledTool;
  readonly #questions = new Map<string, OpenQuestion>();
  readonly #abort = new AbortController();
  readonly #over: Promise<Sent>;
  #call: ToolCall;
  #asked = Promise.withResolvers<void>();
  #refused: string | null = null;
  #outcome: Sent | null = null;

  constructor(session: Session, tool: CalledTool, call: ToolCall, io: CallIo) {
    this.#tool = tool;
    this.#call = call;
    session.beginCall({ elicit: (request) => this.#elicit(request) });
    const { auth, maxResultBytes } = io;
    this.#over = callTool(session, tool, call, { auth, maxResultBytes, signal: this.#abort.signal }).then(
      (sent) => (this.#outcome = this.#refused === null ? sent : refusedCall(this.#refused)),
    );
  }

  /** Ends with the call; the session is free then. */
  get over(): Promise<unknown> {
    return this.#over;
  }

  /** The outcome, or the next thing that a person is asked. */
  async next(): Promise<Sent> {
    const stop = (): void => this.#abort.abort(this.#call.signal.reason);
    const { signal } = this.#call;
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
    try {
      await Promise.race([this.#over, this.#asked.promise]);
      const ask = this.#nextAsk();
      return ask ? { kind: "ask", ask } : await this.#over;
    } finally {
      // From here on it waits for a person, and the end of the run is not its end.
      signal.removeEventListener("abort", stop);
    }
  }

  /** Goes on with the answers that came meanwhile. Null: it has ended without them, and nothing came of it. */
  async resume(call: ToolCall): Promise<Sent | null> {
    if (this.#outcome) return "ok" in this.#outcome && this.#outcome.ok ? this.#outcome : null;
    this.#call = call;
    for (const [digest, { request, reply }] of this.#questions) {
      const answered = findAnswer(call, digest);
      if (!answered) continue;
      this.#questions.delete(digest);
      reply(toAnswer(request, answered));
    }
    if (this.#questions.size === 0) this.#asked = Promise.withResolvers();
    return await this.next();
  }

  /** Nobody will answer any more. */
  giveUp(): void {
    for (const { reply } of this.#questions.values()) reply({ action: "cancel" });
    this.#questions.clear();
  }

  #elicit(request: Elicitation): ElicitAnswer | Promise<ElicitAnswer> {
    const refusal = refusalOf(request, this.#tool.sourceName);
    if (refusal !== null) {
      this.#refused ??= refusal;
      return { action: "decline" };
    }
    const digest = digestOf(request);
    const known = findAnswer(this.#call, digest);
    if (known) return toAnswer(request, known);
    const { promise, resolve } = Promise.withResolvers<ElicitAnswer>();
    this.#questions.set(digest, { request, reply: resolve });
    this.#asked.resolve();
    return promise;
  }

  #nextAsk(): Ask | null {
    const [first] = this.#questions;
    if (!first || this.#outcome) return null;
    const [digest, { request }] = first;
    return toAsk(request, this.#tool.sourceName, { digest });
  }
}

const findAnswer = ({ answers }: ToolCall, digest: string) =>
  answers.find(
    ({ kind, stateJson }) =>
      kind === "elicitation" && stateJson !== null && (JSON.parse(stateJson) as { digest?: string }).digest === digest,
  );

/** The calls of one source that wait for a person, by their id. */
export class WaitingCalls {
  readonly #waiting = new Map<string, { conversation: Conversation; timer: ReturnType<typeof setTimeout> }>();

  /** Keeps it when it asks; gives what `next` and `resume` gave. */
  hold(callId: string, conversation: Conversation, sent: Sent): Sent {
    if ("ok" in sent) return sent;
    const timer = setTimeout(() => {
      this.#waiting.delete(callId);
      conversation.giveUp();
    }, PATIENCE_MS).unref();
    this.#waiting.set(callId, { conversation, timer });
    return sent;
  }

  async resume(call: ToolCall): Promise<Sent | null> {
    const found = this.#waiting.get(call.callId);
    if (!found) return null;
    clearTimeout(found.timer);
    this.#waiting.delete(call.callId);
    const sent = await found.conversation.resume(call);
    return sent && this.hold(call.callId, found.conversation, sent);
  }

  close(): void {
    for (const { conversation, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      conversation.giveUp();
    }
    this.#waiting.clear();
  }
}
