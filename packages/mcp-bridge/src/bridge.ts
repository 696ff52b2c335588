/**
 * MCP over stdin and stdout for hosts that speak nothing else, in front of an endpoint over HTTP: each line becomes a request with the
 * bridge's own key, what comes back becomes lines. It speaks both revisions and understands neither: only a session's id and
 * what a request is called are looked at. A session that the server lost is opened again before the host notices.
 */
import { readLines } from "./read-lines.ts";

export interface BridgeOptions {
  /** Of the endpoint: `http://127.0.0.1:8788/mcp`. */
  url: string;
  /** An agent key of the bridge's own; null: the endpoint takes this machine's user without one. */
  token: string | null;
  input: AsyncIterable<Uint8Array>;
  /** One line, without its end. */
  write(line: string): void;
  /** For people: stderr. */
  log(line: string): void;
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

type Message = Record<string, unknown>;

const PROTOCOL = "io.modelcontextprotocol/protocolVersion";
/** While the server restarts. */
const RETRY_MS = [100, 300, 1_000, 3_000];

/** Ends when the input does and all answers are out. */
export async function runBridge(options: BridgeOptions): Promise<void> {
  const bridge = new Bridge(options);
  const underWay = new Set<Promise<void>>();
  for await (const line of readLines(options.input, () => options.log("a line was too long and is lost"))) {
    if (line.trim() === "") continue;
    const work = bridge.take(line).catch((error: unknown) => options.log(String(error)));
    underWay.add(work);
    void work.finally(() => underWay.delete(work));
    // What comes after `initialize` needs its session.
    if (line.includes('"initialize"')) await work;
  }
  await Promise.all(underWay);
  await bridge.end();
}

class Bridge {
  readonly #options: BridgeOptions;
  readonly #fetch: NonNullable<BridgeOptions["fetch"]>;
  readonly #running = new Map<unknown, AbortController>();
  #session: string | null = null;
  #initialize: Message | null = null;
  #version: string | null = null;
  #reopening: Promise<void> | null = null;

  constructor(options: BridgeOptions) {
    this.#options = options;
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init));
  }

  async take(line: string): Promise<void> {
    const message = parse(line);
    if (!message) return this.#say({ jsonrpc: "2.0", id: null, error: { code: -32_700, message: "Parse error" } });
    if (message["method"] === "initialize") {
      this.#initialize = message;
      this.#session = null;
      this.#version = null;
    }
    const isModern = modernVersion(message) !== null;
    const cancelled = message["method"] === "notifications/cancelled" ? paramsOf(message)["requestId"] : undefined;
    // Over HTTP a request of the newer revision is cancelled by going away.
    if (cancelled !== undefined && this.#session === null) return this.#running.get(cancelled)?.abort();
    const stop = new AbortController();
    if (message["id"] !== undefined && message["method"] !== undefined) this.#running.set(message["id"], stop);
    try {
      const response = await this.#send(message, stop.signal);
      await this.#pass(message, response, isModern);
    } catch (error) {
      if (!stop.signal.aborted) this.#refuse(message, `The Executor server cannot be reached: ${String(error)}`);
    } finally {
      this.#running.delete(message["id"]);
    }
  }

  async end(): Promise<void> {
    if (this.#session === null) return;
    await this.#fetch(this.#options.url, { method: "DELETE", headers: this.#headers(null) }).catch(() => undefined);
  }

  /** Once more when the server lost the session, and a few times while it cannot be reached. */
  async #send(message: Message, signal: AbortSignal): Promise<Response> {
    for (let attempt = 0; ; attempt++) {
      const session = this.#session;
      try {
        const response = await this.#post(message, signal);
        const isLost = response.status === 404 && session !== null && message["method"] !== "initialize";
        if (!isLost || attempt > 1) return response;
        await response.body?.cancel();
        await this.#reopen(session);
      } catch (error) {
        const waitMs = RETRY_MS[attempt];
        // A connection that was refused carried nothing. One that broke may have: that is the host's to decide.
        if (signal.aborted || waitMs === undefined || !/refused|unable to connect/i.test(String(error))) throw error;
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  }

  /** The same `initialize` as the host's; its answer is not the host's any more. */
  async #reopen(lost: string): Promise<void> {
    if (this.#session !== lost || !this.#initialize) return;
    this.#reopening ??= (async () => {
      this.#session = null;
      const response = await this.#post({ ...this.#initialize, id: "bridge-reopen" }, null);
      await response.text();
      await (await this.#post({ jsonrpc: "2.0", method: "notifications/initialized" }, null)).text();
      this.#options.log("the session was gone and has been opened again");
    })().finally(() => (this.#reopening = null));
    await this.#reopening;
  }

  async #post(message: Message, signal: AbortSignal | null): Promise<Response> {
    const response = await this.#fetch(this.#options.url, {
      method: "POST",
      headers: this.#headers(message),
      body: JSON.stringify(message),
      signal,
    });
    if (message["method"] === "initialize") this.#session = response.headers.get("mcp-session-id");
    return response;
  }

  #headers(message: Message | null): Record<string, string> {
    const modern = message && modernVersion(message);
    const version = modern ?? this.#version;
    const { method } = message ?? {};
    const name = message ? (paramsOf(message)["name"] ?? paramsOf(message)["uri"]) : undefined;
    return {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(this.#options.token !== null && { authorization: `Bearer ${this.#options.token}` }),
      ...(this.#session !== null && !modern && { "mcp-session-id": this.#session }),
      ...(version !== null && method !== "initialize" && { "mcp-protocol-version": version }),
      ...(modern && typeof method === "string" && { "mcp-method": method }),
      ...(modern && typeof name === "string" && { "mcp-name": name }),
    };
  }

  async #pass(message: Message, response: Response, isModern: boolean): Promise<void> {
    const type = response.headers.get("content-type") ?? "";
    let isAnswered = false;
    const pass = (text: string): void => {
      const answer = parse(text);
      if (!answer) return;
      if (answer["id"] === message["id"] && answer["method"] === undefined) {
        isAnswered = true;
        const result = answer["result"] as { protocolVersion?: unknown } | undefined;
        if (message["method"] === "initialize" && typeof result?.protocolVersion === "string")
          this.#version = result.protocolVersion;
      }
      // A refusal before there was a request of the protocol names none: it is this one's.
      if (answer["error"] !== undefined && (answer["id"] === null || answer["id"] === undefined)) {
        isAnswered = true;
        if (message["id"] !== undefined) this.#say({ ...answer, id: message["id"] });
        return;
      }
      this.#say(answer);
    };
    if (type.includes("text/event-stream") && response.body) {
      for await (const line of readLines(response.body)) if (line.startsWith("data:")) pass(line.slice(5).trim());
    } else {
      pass(await response.text());
    }
    if (!isAnswered && message["id"] !== undefined && message["method"] !== undefined)
      this.#refuse(message, `The answer broke off (${response.status}).${isModern ? "" : " Ask for it with resume."}`);
  }

  #refuse(message: Message, why: string): void {
    this.#options.log(why);
    if (message["id"] === undefined || message["method"] === undefined) return;
    this.#say({ jsonrpc: "2.0", id: message["id"], error: { code: -32_000, message: why } });
  }

  #say(message: Message): void {
    this.#options.write(JSON.stringify(message));
  }
}

const paramsOf = ({ params }: Message): Message =>
  typeof params === "object" && params !== null ? (params as Message) : {};

function modernVersion(message: Message): string | null {
  const meta = paramsOf(message)["_meta"];
  const version = typeof meta === "object" && meta !== null ? (meta as Message)[PROTOCOL] : undefined;
  return typeof version === "string" ? version : null;
}

function parse(text: string): Message | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Message) : null;
  } catch {
    return null;
  }
}
