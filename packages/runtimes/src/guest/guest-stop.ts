/**
 * How a guest's end is read from what the engine says: a stop of ours, the engine's own errors for a limit, or an error of the code.
 */
import type { GuestLimitCode } from "@executor/contracts/error";
import type { CallRefusal } from "@executor/core/ports/runtime";
import { OutOfGuestMemory } from "./guest-machine.ts";
import type { WireEnd } from "./turn-parts.ts";

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
  if (problem.name === "RangeError" && nativeShortage.test(problem.message))
    return { kind: "stopped", code: "task.memory_limit", message: "The code used up its memory" };
  if (problem.name === "InternalError" && /stack overflow/.test(problem.message))
    return { kind: "stopped", code: "task.stack_overflow", message: "The code nests or recurses too deeply" };
  if (problem.name === "InternalError" && /out of memory|string too long/.test(problem.message))
    return { kind: "stopped", code: "task.memory_limit", message: "The code used up its memory" };
  return undefined;
}

/** The end that something thrown on the engine's side stands for; undefined when the engine itself failed. */
export function stopBehind(error: unknown, memoryBytes: number): WireEnd | undefined {
  if (error instanceof GuestStop) return { kind: "stopped", code: error.code, message: error.message };
  if (error instanceof OutOfGuestMemory) return memoryStop(memoryBytes);
  if (!(error instanceof RangeError)) return undefined;
  if (/stack/i.test(error.message))
    return { kind: "stopped", code: "task.stack_overflow", message: "The code nests or recurses too deeply" };
  return /memory|allocat/i.test(error.message) ? memoryStop(memoryBytes) : undefined;
}

export function memoryStop(memoryBytes: number): WireEnd {
  const message = `The code used more than ${memoryBytes} bytes of memory`;
  return { kind: "stopped", code: "task.memory_limit", message };
}

/** What V8 says when a string, a buffer or a collection grows over what it can hold. */
const nativeShortage = /^(Invalid string length|Array buffer allocation failed|(Map|Set) maximum size exceeded)/;

/** What V8 says to `import()` in a context without a loader. */
const nativeImportRefusal = "A dynamic import callback was not specified.";

/** The engine's own words where they would not help the author of a task. */
export function rewordProblem(problem: GuestProblem): GuestProblem {
  if (problem.message !== nativeImportRefusal) return problem;
  return { ...problem, message: "import is not available in a task; what it needs comes from tools.*" };
}

/** By the numbers of `refusals` in tools.guest.js. */
const refusalCodes: Record<number, CallRefusal> = {
  [-2]: "call.input_too_large",
  [-3]: "call.input_invalid",
  [-4]: "tool.not_found",
};

function whoseError({ call }: GuestProblem): { callId?: number; code?: CallRefusal } {
  if (call >= 0) return { callId: call };
  const code = refusalCodes[call];
  return code === undefined ? {} : { code };
}

/** The line in the script of the innermost frame that belongs to the task. */
export function lineOf(stack: string): number | undefined {
  const found = /\btask\.js:(\d+)/.exec(stack);
  return found?.[1] === undefined ? undefined : Number(found[1]);
}

export function throwBehind(problem: GuestProblem): WireEnd {
  const { name, message } = problem;
  const line = lineOf(problem.stack);
  return { kind: "threw", name, message, ...(line === undefined ? {} : { line }), ...whoseError(problem) };
}
