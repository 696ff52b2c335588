/**
 * What evaluates guest code. The host drives a guest turn by turn: it hands in outcomes, the guest runs until it has
 * nothing left to do by itself, and answers with what it wants next. A guest is a pure function of its program and the
 * deliveries it got, in order: that is what makes replay true.
 * A runtime never performs a call, never looks at a clock for the guest, and never keeps state between two sessions.
 */
import type { GuestLimitCode } from "@executor/contracts/error";
import type { Fence } from "../store/progress.ts";

export interface Runtime {
  readonly id: string;
  readonly label: string;
  readonly description: string;
  /** Changes when old scripts may behave differently. */
  readonly preludeVersion: number;
  availability(): Promise<RuntimeAvailability>;
  /** What can be said without keeping an engine: for a server that runs no tasks. Absent: it needs nothing from the machine. */
  inspect?(): Promise<RuntimeAvailability>;
  /**
   * Makes a guest ready. None of its code has run before the first `advance`. Rejects with GuestLost when it may be tried
   * again (also when it was called off), with RuntimeRefused when trying again will not help. `signal` is aborted when the run
   * is stopped, then or later; a session that is closed without it belongs to a run that ended by itself or paused.
   */
  open(program: GuestProgram, signal?: AbortSignal): Promise<GuestSession>;
  /** Stops everything the runtime started. Open sessions are lost. */
  close(): Promise<void>;
}

/** `confinement`: what keeps a guest inside here, for people to read. */
export type RuntimeAvailability = { available: true; confinement?: string } | { available: false; reason: string };

export interface GuestProgram {
  /** For logs only. */
  taskId: string;
  /** The run it is for: what speaks for this guest from outside the worker is bound to it. */
  fence: Fence;
  /** JavaScript made by transpile-task.ts; pinned with the task. */
  script: string;
  /** 32 hex digits; feeds Math.random and crypto.randomUUID. */
  seed: string;
  /** The guest's Date before the first delivery. */
  startMs: number;
  limits: GuestLimits;
}

export interface GuestLimits {
  /** Time inside the engine, replay included. */
  cpuMs: number;
  memoryBytes: number;
  /** console output; past it one line on stderr says so and the rest is dropped. */
  outputBytes: number;
  calls: number;
  callInputBytes: number;
  resultBytes: number;
}

export interface GuestSession {
  /**
   * Applies the deliveries one after the other, microtasks drained after each (the first `advance` starts the program
   * before applying any), and answers with all that came out. Never two at once. Rejects with GuestLost when the
   * engine is gone through no fault of this guest: the caller replays it in a new session.
   */
  advance(deliveries: readonly Delivery[]): Promise<Turn>;
  /** Idempotent; may be called while `advance` is under way, which then rejects with GuestLost. */
  close(): Promise<void>;
}

/** An outcome for the guest. `id` is the guest's own number of the call or timer; `atMs` is the guest's Date from then on. */
export type Delivery =
  | { kind: "result"; id: number; json: string; atMs: number }
  | { kind: "error"; id: number; error: GuestToolError; atMs: number }
  | { kind: "timer"; id: number; atMs: number };

/** What the guest sees as ToolError. `body` is JSON. */
export interface GuestToolError {
  code: string;
  message: string;
  toolPath: string;
  status?: number;
  bodyJson?: string;
}

export interface Turn {
  /** In the order they were made. Ids count from 0 in the order of making, over the life of the session. */
  calls: GuestCall[];
  timers: GuestTimer[];
  clearedTimers: number[];
  output: GuestOutput[];
  /** Time inside the engine since the session opened. */
  cpuMs: number;
  /** Present when the guest is over; the session takes no more deliveries. */
  end?: GuestEnd;
}

export interface GuestCall {
  id: number;
  path: string;
  inputJson: string;
  /** How many deliveries of this `advance` had been applied when it was made. */
  after: number;
  /** The line of the script it was made on, as the guest's stack says: for people to read, never to decide by. */
  line?: number;
}

export interface GuestTimer {
  id: number;
  delayMs: number;
  after: number;
}

export interface GuestOutput {
  stream: "stdout" | "stderr";
  text: string;
}

export type GuestEnd =
  | { kind: "returned"; resultJson: string }
  /** `callId`: the uncaught error is the very object that carried this call's outcome (known by identity, not by text). */
  /** `code`: the uncaught error is the very object with which the engine refused to make a call. */
  | { kind: "threw"; name: string; message: string; line?: number; callId?: number; code?: CallRefusal }
  /** A limit or rule of the engine ended it. `task.diverged`: a delivery named a call or timer that is not outstanding. */
  | { kind: "stopped"; code: GuestLimitCode | "task.diverged"; message: string };

/** Why the engine refuses to make a call at all. */
export type CallRefusal = "call.input_too_large" | "call.input_invalid" | "tool.not_found";

/** The engine under a session is gone (killed, crashed, moved away from a busy neighbour). Replay in a new session. */
export class GuestLost extends Error {
  override readonly name = "GuestLost";
}

/** No guest can be had here, and not because of this one. The message is shown to whoever submitted the task. */
export class RuntimeRefused extends Error {
  override readonly name = "RuntimeRefused";
}
