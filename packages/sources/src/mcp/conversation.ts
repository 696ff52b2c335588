/**
 * One call in which a server of 2025-11-25 may ask a person something. While the person thinks, the call stays open and waits here:
 * the run has ended, the worker is free, and when the run comes again with the answer the very same call goes on. When the
 * call cannot be found again (another worker, a restart, too long a wait), the desk decides: what changes nothing is sent
 * anew with all the answers; for the rest a person is asked, for it may have happened.
 */
import type { CallIo } from "@executor/core/ports/source";
import type { Ask, OpenCall, Sent, ToolCall, ToolOutcome } from "@executor/core/tools/tool";
import { type CalledTool, callTool, refusedCall } from "./call-tool.ts";
import type { Session } from "./connect.ts";
import { digestOf, type ElicitAnswer, type Elicitation, refusalOf, toAnswer, toAsk } from "./elicitation.ts";

/** How long a person may take for the call to be still there. */
const PATIENCE_MS = 10 * 60_000;
/** How long a server may take to end a call when it hears that nobody answers. */
const GIVE_UP_MS = 5_000;

interface OpenQuestion {
  request: Elicitation;
  reply(answer: ElicitAnswer): void;
}

export class Conversation implements OpenCall {
  readonly callId: string;
  readonly #tool: CalledTool;
  readonly #questions = new Map<string, OpenQuestion>();
  readonly #abort = new AbortController();
  readonly #over: Promise<Sent>;
  #call: ToolCall;
  #asked = Promise.withResolvers<void>();
  #refused: string | null = null;
  #outcome: Sent | null = null;
  #nobodyAnswers = false;

  constructor(session: Session, tool: CalledTool, call: ToolCall, io: CallIo) {
    this.#tool = tool;
    this.#call = call;
    session.beginCall({ elicit: (request) => this.#elicit(request) });
    const { auth, maxResultBytes } = io;
    this.callId = call.callId;
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
      return ask ? { kind: "ask", ask, isOpen: true } : await this.#over;
    } finally {
      // From here on it waits for a person, and the end of the run is not its end.
      signal.removeEventListener("abort", stop);
    }
  }

  async goOn(call: ToolCall): Promise<Sent | null> {
    const outcome = this.#outcome;
    // That it failed for want of an answer is no news to whoever declined; who answered wants it done.
    if (outcome) return ("ok" in outcome && outcome.ok) || call.answers.at(-1)?.refused ? outcome : null;
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

  async giveUp(): Promise<ToolOutcome> {
    this.#nobodyAnswers = true;
    for (const { reply } of this.#questions.values()) reply({ action: "cancel" });
    this.#questions.clear();
    const timer = setTimeout(() => this.#abort.abort(new Error("nobody answers")), GIVE_UP_MS).unref();
    const sent = await this.#over.finally(() => clearTimeout(timer));
    return "ok" in sent ? sent : refusedCall(`${this.#tool.sourceName} asked for more, and nobody answers.`);
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
    if (this.#nobodyAnswers) return { action: "cancel" };
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

  /** Keeps it when it asks; gives what `next` and `goOn` gave. */
  hold(conversation: Conversation, sent: Sent): Sent {
    if ("ok" in sent || !sent.isOpen) return sent;
    const { callId } = conversation;
    const timer = setTimeout(() => {
      this.#waiting.delete(callId);
      void conversation.giveUp();
    }, PATIENCE_MS).unref();
    this.#waiting.set(callId, { conversation, timer });
    return sent;
  }

  find(callId: string): OpenCall | null {
    const conversation = this.#waiting.get(callId)?.conversation;
    if (!conversation) return null;
    return {
      goOn: async (call) => {
        this.#forget(callId);
        const sent = await conversation.goOn(call);
        return sent && this.hold(conversation, sent);
      },
      giveUp: () => {
        this.#forget(callId);
        return conversation.giveUp();
      },
    };
  }

  close(): void {
    for (const [callId, { conversation }] of this.#waiting) {
      this.#forget(callId);
      void conversation.giveUp();
    }
  }

  #forget(callId: string): void {
    clearTimeout(this.#waiting.get(callId)?.timer);
    this.#waiting.delete(callId);
  }
}
