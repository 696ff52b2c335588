/**
 * What a run adds to a task, in the order it happened. The journal collects entries; one verb writes a batch of them.
 * All values are plain data: the same entries cross to Convex.
 */
import type { InteractionKind } from "@executor/contracts/interaction";

export type ProgressEntry =
  | { kind: "output"; stream: "stdout" | "stderr"; text: string; at: number }
  /** The code made a call. Always written no later than any delivery that follows it: replay relies on it. */
  | {
      kind: "call";
      callId: string;
      ordinal: number;
      callKey: string;
      toolPath: string;
      inputJson: string;
      inputDigest: string;
      at: number;
    }
  /** It is about to leave. `approvalId`: the approval that is used up by it. */
  | { kind: "sent"; callId: string; at: number; approvalId: string | null }
  /** What it was asked in the middle is about to be answered: it goes on. */
  | { kind: "answered"; callId: string; at: number }
  /** It has an outcome. `deliverySeq` is null when the guest will never see it. */
  | {
      kind: "done";
      callId: string;
      at: number;
      status: "completed" | "failed" | "denied";
      outcomeKind: "result" | "error";
      outcomeJson: string;
      why: string;
      deliverySeq: number | null;
      deliveredAtMs: number;
      deliveredRunMs: number;
    }
  | { kind: "timer"; timerId: number; deliverySeq: number; deliveredAtMs: number; deliveredRunMs: number }
  /** The guest was given so many deliveries, and the calls it made after the last of them are entries before this one. */
  | { kind: "seen"; deliveries: number }
  | { kind: "ask"; interaction: NewInteraction };

export interface NewInteraction {
  interactionId: string;
  callId: string;
  kind: InteractionKind;
  title: string;
  detail: string;
  toolPath: string;
  inputJson: string;
  inputDigest: string;
  schemaHash: string;
  /** The line of the code that made the call. */
  line: number | null;
  answerSchemaJson: string | null;
  url: string | null;
  why: string;
  mayHaveRun: boolean;
  stateJson: string | null;
  /** Set when the call was sent and the other side put it off: that sending does not count, nor does it use up its approval. */
  putOff: { approvalId: string | null } | null;
  createdAt: number;
  expiresAt: number;
}

/** Names the one run that may write: the task's attempt while its lease holds. */
export interface Fence {
  taskId: string;
  /** Only for hints; the task row is what counts. */
  workspaceId: string;
  workerId: string;
  attempt: number;
}
