/**
 * How the runner reaches its run: every request is numbered, so it may be repeated until it is answered.
 * Ends when the token is no longer good (the run is over or was replaced) or nobody answers for two minutes.
 * Not by `fetch`: to load it costs a fresh Node process more CPU time than all else the runner does until the guest starts.
 */
import type { RequestOptions } from "node:http";

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
    let response: { status: number; text: string };
    try {
      response = await post(url, this.#token, body);
    } catch (error) {
      return String(error);
    }
    const { status, text } = response;
    if (status === 429 || status >= 500) return `status ${status}`;
    if (status !== 200) throw new RunIsOver(`status ${status}: ${text.slice(0, 500)}`);
    return JSON.parse(text) as Reply;
  }
}

async function post(url: string, token: string, body: string): Promise<{ status: number; text: string }> {
  const { request, Agent } = await loadClient(url);
  const bytes = Buffer.from(body);
  const options: RequestOptions = {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-length": bytes.length,
    },
    agent: (agent ??= new Agent({ keepAlive: true })),
    signal: AbortSignal.timeout(REQUEST_MS),
  };
  return await new Promise((resolve, reject) => {
    const asking = request(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      // Decoded whole: a character may be split between chunks.
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    asking.on("error", reject);
    asking.end(bytes);
  });
}

let agent: RequestOptions["agent"] | undefined;
const loadClient = (url: string) => (url.startsWith("https:") ? import("node:https") : import("node:http"));
