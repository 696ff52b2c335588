/**
 * A request to Convex that got no proper answer, and the one thing a retry must know: may it have been carried out?
 * `fetchConvex` is given to Convex's client as its fetch, for the client itself only throws texts.
 */

export class SendFailure extends Error {
  override readonly name = "SendFailure";
  /** "no": it was certainly not carried out. "maybe": it may have been, and only the answer was lost. */
  readonly carriedOut: "no" | "maybe";
  /** The same request may succeed a moment later. */
  readonly passing: boolean;

  constructor(message: string, options: { carriedOut: "no" | "maybe"; passing: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.carriedOut = options.carriedOut;
    this.passing = options.passing;
  }
}

const TIMEOUT_MS = 30_000;
/** The connection was never made, so the request never left. */
const NEVER_LEFT = new Set([
  "ECONNREFUSED",
  "ConnectionRefused",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);
/** Convex's own: a function that failed answers with this and a body, which the client reads. */
const FUNCTION_FAILED = 560;
/** Another mutation was first, on each of Convex's own tries; nothing of ours was committed. */
const WRITE_CONFLICT = "OptimisticConcurrencyControlFailure";

export async function fetchConvex(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(input, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (cause) {
    const code = String((cause as { code?: unknown }).code ?? "");
    throw new SendFailure(cause instanceof Error ? cause.message : String(cause), {
      carriedOut: NEVER_LEFT.has(code) ? "no" : "maybe",
      passing: true,
      cause,
    });
  }
  if (response.ok || response.status === FUNCTION_FAILED) return response;
  throw await failureOf(response);
}

async function failureOf(response: Response): Promise<SendFailure> {
  const text = await response.text().catch(() => "");
  const message = `HTTP ${response.status} ${text.slice(0, 500)}`;
  if (response.status === 429 || text.includes(WRITE_CONFLICT))
    return new SendFailure(message, { carriedOut: "no", passing: true });
  const isOurFault = response.status >= 400 && response.status < 500;
  return new SendFailure(
    message,
    isOurFault ? { carriedOut: "no", passing: false } : { carriedOut: "maybe", passing: true },
  );
}
