/**
 * How a guest's end is read from what the engine says: a stop of ours, the engine's own errors for a limit, or an error of the code.
 */
import type { GuestLimitCode } from "@executor/contracts/error";
import type { CallRefusal } from "@executor/core/ports/runtime";
import type { WireEnd } from "./guest-frames.ts";

/** What the task's script is called in stacks. */
export const taskFile = "task.js";

/** What the prelude could read of an error. `call`: whose outcome it carried, -1, or a refusal of the prelude. */
export interface GuestProblem {
  name: string;
  message: string;
  stack: string;
  call: number;
}

/** Unwinds the engine; the guest cannot catch it. */
export class GuestStop extends Error {
  readonly code: GuestLimitCode;
  constructor(code: GuestLimitCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The engine's own errors for a full stack or memory are catchable; uncaught they mean the limit. */
export function limitBehind(problem: GuestProblem): WireEnd | undefined {
  if (problem.name === "RangeError" && /call stack size exceeded/.test(problem.message))
    return { kind: "stopped", code: "task.stack_overflow", message: "The code nests or recurses too deeply" };
  if (problem.name === "InternalError" && /stack overflow/.test(problem.message))
    return { kind: "stopped", code: "task.stack_overflow", message: "The code nests or recurses too deeply" };
  if (problem.name === "InternalError" && /out of memory|string too long/.test(problem.message))
    return { kind: "stopped", code: "task.memory_limit", message: "The code used up its memory" };
  return undefined;
}

/** By the numbers of `refusals` in tools.guest.js. */
const refusalCodes: Record<number, CallRefusal> = {
  [-2]: "call.input_too_large",
  [-3]: "call.input_invalid",
  [-4]: "tool.not_found",
};

export function whoseError({ call }: GuestProblem): { callId?: number; code?: CallRefusal } {
  if (call >= 0) return { callId: call };
  const code = refusalCodes[call];
  return code === undefined ? {} : { code };
}

/** The line in the script of the innermost frame that belongs to the task. */
export function lineOf(stack: string): number | undefined {
  const found = /\btask\.js:(\d+)/.exec(stack);
  return found?.[1] === undefined ? undefined : Number(found[1]);
}
