/** Checks of what the host sends. Each answers with the value, or with what is wrong with it. */
import { type GuestRunParams, isolateErrors, type IsolateMessage } from "@executor/contracts/isolate-rpc";
import { type DeliveryKind, deliveryKinds } from "@executor/runtimes/guest/turn-parts";

type Fields = Record<string, unknown>;

const limitNames = ["cpuMs", "memoryBytes", "outputBytes", "calls", "callInputBytes", "resultBytes"] as const;

export function readRunParams(params: Fields): GuestRunParams | string {
  for (const name of ["runId", "taskId", "sessionToken", "script"])
    if (typeof params[name] !== "string" || params[name] === "") return `${name} must be a text`;
  if (typeof params["seed"] !== "string" || !/^[0-9a-f]{32}$/.test(params["seed"])) return "seed must be 32 hex digits";
  if (!isTime(params["startMs"])) return "startMs must be a time";
  const limits = params["limits"];
  if (typeof limits !== "object" || limits === null) return "limits must be an object";
  for (const name of limitNames)
    if (!isTime((limits as Fields)[name])) return `limits.${name} must be a number of at least 0`;
  return params as unknown as GuestRunParams;
}

export function readTimer({ timerId, atMs }: Fields): { timerId: number; atMs: number } | string {
  if (!isIndex(timerId)) return "timerId must be a whole number";
  return isTime(atMs) ? { timerId, atMs } : "atMs must be a time";
}

/** `text` is JSON: of the result, or of an object with the fields of the error. */
export function readToolAnswer(
  message: Extract<IsolateMessage, { kind: "result" | "error" }>,
): { kind: DeliveryKind; atMs: number; text: string } | string {
  if (message.kind === "result") {
    const { json, atMs } = (message.result ?? {}) as Fields;
    if (typeof json !== "string" || !isTime(atMs)) return "the answer to a call has json and atMs";
    return { kind: deliveryKinds.result, atMs, text: json };
  }
  const { code, message: text, data } = message.error;
  if (code !== isolateErrors.toolFailed || typeof data !== "object" || data === null)
    return `a call fails with ${isolateErrors.toolFailed} and data`;
  const { bodyJson, atMs, ...fields } = data as Fields;
  if (!isTime(atMs)) return "data.atMs must be a time";
  const head = JSON.stringify({ ...fields, message: text });
  const error = typeof bodyJson === "string" ? `${head.slice(0, -1)},"body":${bodyJson}}` : head;
  return { kind: deliveryKinds.error, atMs, text: error };
}

const isIndex = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isTime = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0;
