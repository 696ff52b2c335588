/**
 * Sends one request of a call, with its secrets, and says what came of it. A request that changes nothing is tried again when the
 * other side is busy or the connection is lost; any other is sent once, and its loss is told as what it is: unknown.
 */
import { AppError } from "@executor/contracts/error";
import type { CallIo } from "@executor/core/ports/source";
import type { ToolOutcome } from "@executor/core/tools/tool";
import { applyAuth } from "./apply-auth.ts";
import { readResponse, tooLarge } from "./read-response.ts";

export interface OutgoingRequest {
  method: string;
  url: string;
  headers: Iterable<readonly [string, string]>;
  body: BodyInit | null;
  /** May be repeated without harm. */
  safe: boolean;
  signal: AbortSignal;
  timeoutMs?: number;
  /** See GuardedInit. */
  publicOnly?: boolean;
}

const MAX_TRIES = 3;
const BACKOFF_MS = [200, 800];
const MAX_RETRY_AFTER_MS = 20_000;
const BUSY = new Set([429, 502, 503, 504]);
/** A failure of the other side's own: worth one more look, and not more. */
const FAILED = 500;
/** What is read beyond the limit of a result, so that the answer can say that it is too large. */
const SLACK_BYTES = 64_000;

export async function sendRequest(request: OutgoingRequest, io: CallIo): Promise<ToolOutcome> {
  const { url, headers, sensitive } = applyAuth(request, io.auth);
  const { method, body, signal, timeoutMs } = request;
  const init = {
    method,
    headers,
    body,
    signal,
    sensitive,
    publicOnly: request.publicOnly === true,
    maxBytes: io.maxResultBytes + SLACK_BYTES,
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
  const tries = request.safe ? MAX_TRIES : 1;
  for (let tried = 1; ; tried++) {
    try {
      const response = await io.fetch(url, init);
      const mayPass = BUSY.has(response.status) || (response.status === FAILED && tried === 1);
      const waitMs = tried < tries && mayPass ? pauseMs(response, tried) : null;
      if (waitMs === null) return await readResponse(response, io);
      void response.body?.cancel().catch(() => undefined);
      await pause(waitMs, signal);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const isLost = error.code === "egress.failed" || error.code === "egress.timeout";
      // Said at once where the other side declares its length: the same to the caller as when it is counted.
      if (error.code === "egress.too_large") return tooLarge(io.maxResultBytes, null);
      if (!isLost || tried >= tries || signal.aborted) return outcomeOf(error, request);
      await pause(jittered(tried), signal);
    }
  }
}

/** Null: the other side asks for more patience than a call has. */
function pauseMs(response: Response, tried: number): number | null {
  const asked = retryAfterMs(response.headers.get("retry-after"));
  if (asked !== null) return asked <= MAX_RETRY_AFTER_MS ? asked : null;
  return jittered(tried);
}

/** Not all at once: others were cut off at the same moment. */
function jittered(tried: number): number {
  const backoff = BACKOFF_MS[tried - 1] ?? 1_000;
  return backoff / 2 + Math.random() * backoff;
}

/** Seconds, or a date. */
export function retryAfterMs(value: string | null, now = Date.now()): number | null {
  if (value === null) return null;
  if (/^\s*\d+(\.\d+)?\s*$/.test(value)) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const stop = (): void => resolve();
  signal.addEventListener("abort", stop, { once: true });
  await promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", stop);
}

function outcomeOf(error: AppError, { safe, method }: OutgoingRequest): ToolOutcome {
  const mayHaveHappened = !safe && error.data?.["sent"] !== false && error.code !== "egress.refused";
  const hint = mayHaveHappened ? ` This ${method} may have happened all the same; look before you send it again.` : "";
  return { ok: false, code: error.code, message: `${error.detail}${hint}` };
}
