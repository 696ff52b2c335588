/**
 * A tool, with everything about it in one record: what it is, what the gate must know, and how it is performed.
 * Nobody asks where a tool comes from; they ask the tool.
 */
import type { InteractionKind } from "@executor/contracts/interaction";
import type { JsonSchema, ToolApproval, ToolEffect } from "@executor/contracts/tool";
import type { ToolShape } from "../ports/source.ts";

export interface Tool {
  path: string;
  /** Namespace of the source it comes from; "executor" for what is built in. */
  source: string;
  description: string;
  /** More words to be found by. */
  keywords: string;
  /** Changes when description or schemas change; an approval is bound to it. */
  schemaHash: string;
  effect: ToolEffect;
  /** True when the tool sends a key by which the other side recognises a repetition. */
  idempotent: boolean;
  /** What happens when no policy matches. */
  approval: ToolApproval;
  /** Discovery never asks a person, whatever a policy says; it can still be denied. */
  neverAsks: boolean;
  /** A person is asked each time, also where a policy would allow it. */
  alwaysAsks?: boolean;
  /** What else a call stands for: with any, each is gated as if it were called itself (a document with several fields). */
  gatePaths?(input: unknown): GatedPart[];
  /** Signature and schemas; read only when somebody looks at the tool. */
  shape(): Promise<ToolShape>;
  prepare(call: ToolCall): Promise<Prepared>;
  /** The call when it was sent earlier and waits here, in this process, for a person's answer. */
  openCall?(callId: string): OpenCall | null;
}

/** A call under way: the other side asked something in the middle of it and has not ended it. */
export interface OpenCall {
  /** Goes on with the answers. Null: it has ended without them, and nobody can say what came of it. */
  goOn(call: ToolCall): Promise<Sent | null>;
  /** Nobody will answer: the other side is told so, and what it then came to is the outcome. Takes seconds at most. */
  giveUp(): Promise<ToolOutcome>;
}

export interface ToolCall {
  taskId: string;
  callId: string;
  workspaceId: string;
  actorId: string;
  clientId: string;
  toolPath: string;
  /** Made by JSON.parse from what the guest sent: never merge or assign it. */
  input: unknown;
  /** The answer to what was asked last for this call in an earlier run, if anything was. */
  answer: unknown;
  /** All that was asked for this call and answered, oldest first, with what the asker kept for itself. */
  answers: readonly Answered[];
  signal: AbortSignal;
}

/**
 * `send` is called at most once, after the journal knows. `ask`: a person must do something first. A `send` may come back
 * with an `ask` too: the other side has refused or put off the call, and it will be sent again after the answer; or, with
 * `isOpen`, the call is under way and waits for the answer. It counts as sent, and only `openCall` may go on with it.
 */
export type Prepared = { kind: "ready"; send(): Promise<Sent> } | Asked;
export type Sent = ToolOutcome | Asked;
export type Asked = { kind: "ask"; ask: Ask; isOpen?: true };

export interface Answered {
  kind: Ask["kind"];
  answer: unknown;
  /** As the ask gave it. */
  stateJson: string | null;
  /** Nobody answered. Only `goOn` is told: a person declined, or the time was over. */
  refused?: "decline" | "cancel";
}

export interface GatedPart {
  path: string;
  effect: ToolEffect;
  approval: ToolApproval;
}

export interface Ask {
  kind: Exclude<InteractionKind, "approval">;
  title: string;
  detail: string;
  answerSchema: JsonSchema | null;
  url: string | null;
  /** What the asker needs when the answer is there; shown to nobody, no secrets. */
  stateJson?: string | null;
}

/** `json` is what the guest gets; it is redacted and bounded by whoever made it. */
export type ToolOutcome =
  | { ok: true; json: string }
  | {
      ok: false;
      code: string;
      message: string;
      status?: number;
      bodyJson?: string;
      /** WWW-Authenticate of a refusal; whoever can do something about it takes it out. */
      challenge?: string;
    };
