/**
 * What the isolated executor process and its host say to each other: JSON-RPC 2.0, one message a line, over a Unix socket.
 * docs/isolate-protocol.md tells it in prose. Types and numbers only; both sides check what they read by themselves.
 */
import type { GuestLimitCode } from "./error.ts";

export const isolateProtocol = 2;

/** Host to isolate: ping, shutdown, guest.run, guest.cancel (requests), guest.timer (notification), and the answers to tool.call. */
/** Isolate to host: tool.call (request), guest.output, guest.idle (notifications), and the answers to the above. */
export const isolateErrors = {
  parse: -32_700,
  invalidRequest: -32_600,
  unknownMethod: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  tokenRefused: -32_001,
  busy: -32_002,
  lineTooLong: -32_003,
  noGuest: -32_004,
  cancelled: -32_005,
  toolFailed: -32_010,
} as const;
export type IsolateErrorCode = (typeof isolateErrors)[keyof typeof isolateErrors];

export interface IsolateErrorBody {
  code: number;
  message: string;
  data?: unknown;
}

/** `token` stands on every message: that of the process before a guest runs, that of the run from then on. */
export type IsolateMessage =
  | { kind: "request"; id: number | string; method: string; params: Record<string, unknown>; token: string }
  | { kind: "notification"; method: string; params: Record<string, unknown>; token: string }
  | { kind: "result"; id: number | string; result: unknown; token: string }
  | { kind: "error"; id: number | string | null; error: IsolateErrorBody; token: string };

/** The first line on the isolate's stdin; the end of stdin means that the host is gone. */
export interface IsolateStart {
  socketPath: string;
  token: string;
  maxLineBytes: number;
}

export interface IsolatePong {
  pong: true;
  protocol: number;
  engine: string;
  /** What the engine's own permissions still grant; empty when it confines the guest by itself. */
  granted: string[];
}

export interface GuestRunParams {
  runId: string;
  taskId: string;
  /** The token of the run; from here on every message of both sides carries it. */
  sessionToken: string;
  script: string;
  seed: string;
  startMs: number;
  limits: {
    cpuMs: number;
    memoryBytes: number;
    outputBytes: number;
    calls: number;
    callInputBytes: number;
    resultBytes: number;
  };
}

/** The guest has nothing left to do by itself. Counts are over the life of the guest. */
export interface GuestIdle {
  /** Outcomes and timers that were applied. */
  applied: number;
  /** guest.output messages that were written; they travel on stdout and may arrive later. */
  outputs: number;
  /** tool.call requests that were made. */
  calls: number;
  timers: [id: number, delayMs: number, after: number][];
  cleared: number[];
  cpuMs: number;
}

export type GuestRunEnd =
  | { kind: "returned"; resultJson: string }
  | { kind: "threw"; name: string; message: string; line?: number; callId?: number; code?: string }
  | { kind: "stopped"; code: GuestLimitCode | "task.diverged"; message: string };

/** The answer to guest.run. */
export interface GuestRunResult extends GuestIdle {
  end: GuestRunEnd;
}

/** `after`: how many outcomes and timers had been applied when it was made. Its id counts from 0. `line`: of the script, 0 when not known. */
export interface ToolCallParams {
  path: string;
  inputJson: string;
  after: number;
  line: number;
  /** On the last call of a turn, in place of a guest.idle of its own. */
  idle?: GuestIdle;
}

/** `atMs` is the guest's clock from then on. */
export interface ToolCallResult {
  json: string;
  atMs: number;
}

/** `data` of an error with code toolFailed. */
export interface ToolFailure {
  code: string;
  toolPath: string;
  atMs: number;
  status?: number;
  bodyJson?: string;
}
