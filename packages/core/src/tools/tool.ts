/**
 * A tool, with everything about it in one record: what it is, what the gate must know, and how it is performed.
 * Nobody asks where a tool comes from; they ask the tool.
 */
import type { InteractionKind } from "@executor/contracts/interaction";
import type { JsonSchema, ToolApproval, ToolEffect } from "@executor/contracts/tool";

export interface Tool {
  path: string;
  /** Namespace of the source it comes from; "executor" for what is built in. */
  source: string;
  description: string;
  /** TypeScript, one line: `(input: {…}) => Promise<…>`. */
  signature: string;
  inputSchema: JsonSchema;
  outputSchema: JsonSchema;
  /** Changes when description or schemas change; an approval is bound to it. */
  schemaHash: string;
  effect: ToolEffect;
  /** True when the tool sends a key by which the other side recognises a repetition. */
  idempotent: boolean;
  /** What happens when no policy matches. */
  approval: ToolApproval;
  /** Discovery never asks a person, whatever a policy says; it can still be denied. */
  neverAsks: boolean;
  prepare(call: ToolCall): Promise<Prepared>;
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
  /** The answer to what `prepare` asked for in an earlier run, if it did. */
  answer: unknown;
  signal: AbortSignal;
}

/** `send` is called at most once, after the journal knows. `ask`: a person must do something first. */
export type Prepared = { kind: "ready"; send(): Promise<ToolOutcome> } | { kind: "ask"; ask: Ask };

export interface Ask {
  kind: Exclude<InteractionKind, "approval">;
  title: string;
  detail: string;
  answerSchema: JsonSchema | null;
  url: string | null;
}

/** `json` is what the guest gets; it is redacted and bounded by whoever made it. */
export type ToolOutcome =
  | { ok: true; json: string }
  | { ok: false; code: string; message: string; status?: number; bodyJson?: string };
