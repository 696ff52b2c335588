/**
 * How the runner reaches its run: every request is numbered, so it may be repeated until it is answered.
 * Ends when the token is no longer good (the run is over or was replaced) or nobody answers for two minutes.
 */
export interface Exchange {
  turn: number;
  /** Chunks of answers that were read, over the life of the run. */
  after: number;
}
interface Reply {
  texts?: string[];
  last?: boolean;
}

const GIVE_UP_MS = 120_000;
const REQUEST_MS = 60_000;

/** The run is over, or this process is not the one it listens to. */
export class RunIsOver extends Error {}

export class Callback {
  readonly #url: string;
  readonly #token: string;
  readonly #runner: string;

  constructor(url: string, token: string, runner: string) {
    this.#url = url;
    this.#token = token;
    this.#runner = runner;
  }

  async post(route: "tool-call" | "output", body: Record<string, unknown>): Promise<Reply> {
    const json = JSON.stringify({ ...body, runner: this.#runner });
    const giveUpAt = Date.now() + GIVE_UP_MS;
    for (let waitMs = 100; ; waitMs = Math.min(2 * waitMs, 5_000)) {
      const problem = await this.#send(`${this.#url}/${route}`, json);
      if (typeof problem !== "string") return problem;
      if (Date.now() > giveUpAt) throw new RunIsOver(`nobody answered for ${GIVE_UP_MS} ms: ${problem}`);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }

  async #send(url: string, body: string): Promise<Reply | string> {
    let response: Response;
    let text: string;
    try {
      response = await fetch(url, {
        method: "POST",
        headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
        body,
        redirect: "error",
        signal: AbortSignal.timeout(REQUEST_MS),
      });
      text = await response.text();
    } catch (error) {
      return String(error);
    }
    if (response.status === 429 || response.status >= 500) return `status ${response.status}`;
    if (!response.ok) throw new RunIsOver(`status ${response.status}: ${text.slice(0, 500)}`);
    return JSON.parse(text) as Reply;
  }
}
