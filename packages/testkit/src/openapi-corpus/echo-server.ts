/** A server that keeps the last request as it came, byte for byte, and answers as it was told. */
import type { Received } from "./check-request.ts";

export interface EchoServer {
  url: string;
  /** The last request since it was asked last. */
  taken(): Received | null;
  answerWith(answer: { status: number; contentType: string | null }): void;
  stop(): Promise<void>;
}

export const ANSWERS = {
  json: { ok: true, list: [1, "é"] },
  text: "plain é",
  bytes: Uint8Array.from({ length: 256 }, (_, at) => at),
};

export function startEchoServer(): EchoServer {
  let last: Received | null = null;
  let answer: { status: number; contentType: string | null } = { status: 200, contentType: null };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    maxRequestBodySize: 64 * 1024 * 1024,
    async fetch(request) {
      const target = request.url.replace(/^https?:\/\/[^/?#]*/, "");
      last = {
        method: request.method,
        target,
        headers: request.headers,
        body: new Uint8Array(await request.arrayBuffer()),
      };
      return respond(answer);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    taken() {
      const taken = last;
      last = null;
      return taken;
    },
    answerWith: (next) => (answer = next),
    stop: () => server.stop(true),
  };
}

function respond({ status, contentType }: { status: number; contentType: string | null }): Response {
  if (contentType === null || status === 204 || status === 205) return new Response(null, { status });
  const headers = { "content-type": contentType };
  if (/[/+]json($|;)/.test(contentType)) return new Response(JSON.stringify(ANSWERS.json), { status, headers });
  if (contentType.startsWith("text/event-stream"))
    return new Response('event: a\ndata: {"n":1}\n\n', { status, headers });
  if (/ndjson|jsonl|json-seq/.test(contentType))
    return new Response(`${JSON.stringify(ANSWERS.json)}\n${JSON.stringify(ANSWERS.json)}\n`, { status, headers });
  if (contentType.startsWith("text/")) return new Response(ANSWERS.text, { status, headers });
  return new Response(ANSWERS.bytes, { status, headers });
}
