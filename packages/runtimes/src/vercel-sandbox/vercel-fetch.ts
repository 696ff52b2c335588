/**
 * The fetch the SDK is given. The SDK repeats every request that failed, also the one that runs a command: a response that was
 * lost on the way would run it twice. So what must happen once fails in the one way the SDK does not repeat.
 */
export type Fetch = (input: RequestInfo | URL, init?: RequestInit) => Promise<Response>;

const REQUEST_MS = 30_000;
const SDK_URL = "https://vercel.com/api";

/** A request that was sent once, and may or may not have been carried out. `name` is what the SDK looks at. */
export class SentOnce extends Error {
  override readonly name = "AbortError";
  /** What the API answered; null when nothing came back. */
  readonly status: number | null;
  constructor(status: number | null, message: string) {
    super(message);
    this.status = status;
  }
}

export function createVercelFetch(apiUrl: string): Fetch {
  return async (input, init = {}) => {
    const asked = input instanceof Request ? input.url : String(input);
    const url = asked.startsWith(SDK_URL) ? apiUrl + asked.slice(SDK_URL.length) : asked;
    const isOnce = init.method === "POST" && /\/(v[23]\/sandboxes|cmd)(\?|$)/.test(url);
    // The SDK adds a dispatcher of undici, which is not for this fetch.
    const { dispatcher: _, ...rest } = init as RequestInit & { dispatcher?: unknown };
    const timeout = AbortSignal.timeout(REQUEST_MS);
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    let response: Response;
    try {
      response = await fetch(url, { ...rest, signal });
    } catch (error) {
      throw isOnce ? new SentOnce(null, `no answer: ${String(error)}`) : error;
    }
    if (isOnce && (response.status === 429 || response.status >= 500))
      throw new SentOnce(response.status, `status ${response.status}: ${(await response.text()).slice(0, 300)}`);
    return response;
  };
}
