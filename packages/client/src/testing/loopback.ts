/** A real HTTP server on a port of its own for tests, which speaks our wire format and remembers what it was asked. */
import type { ErrorCode } from "@executor/contracts/error";

export interface Asked {
  method: string;
  /** With the query. */
  path: string;
  headers: Headers;
  body: unknown;
}

export interface Loopback {
  url: string;
  asked: Asked[];
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export type Respond = (asked: Asked, request: Request) => Response | Promise<Response>;

export function startLoopback(respond: Respond, port = 0): Loopback {
  const asked: Asked[] = [];
  const server = Bun.serve({
    port,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const url = new URL(request.url);
      const text = await request.text();
      const entry = {
        method: request.method,
        path: url.pathname + url.search,
        headers: request.headers,
        body: text === "" ? undefined : (JSON.parse(text) as unknown),
      };
      asked.push(entry);
      return respond(entry, request);
    },
  });
  const stop = () => server.stop(true);
  return { url: `http://127.0.0.1:${server.port}`, asked, stop, [Symbol.asyncDispose]: stop };
}

export const json = (value: unknown, status = 200): Response => Response.json(value, { status });

export function problem(status: number, code: ErrorCode, headers: Record<string, string> = {}): Response {
  const body = {
    type: "about:blank",
    title: "A title",
    status,
    code,
    detail: "what to do",
    requestId: "req_1",
    data: { hint: 1 },
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/problem+json", ...headers },
  });
}

/** Answers in turn; the last one is given again and again. */
export function inTurn<T>(...answers: (() => T)[]): () => T {
  let next = 0;
  return () => {
    const answer = answers[Math.min(next++, answers.length - 1)];
    if (!answer) throw new Error("inTurn needs an answer");
    return answer();
  };
}
