/**
 * The floor of HTTP, as a process of its own: Hono that parses a JSON body and replies with one (`POST /`), and a bare
 * stream of a file's bytes in pieces of 64 kB (`GET /stream`). `bun bare-server.ts [file]`; prints its port.
 */
import { Hono } from "hono";

const path = process.argv[2];
const bytes = path === undefined ? new Uint8Array() : new Uint8Array(await Bun.file(path).arrayBuffer());
const pieceBytes = 64_000;

function streamBytes(): Response {
  let at = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (at >= bytes.length) return controller.close();
        controller.enqueue(bytes.subarray(at, at + pieceBytes));
        at += pieceBytes;
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

const app = new Hono();
app.post("/", async (c) =>
  c.json({ status: "completed", code: ((await c.req.json()) as { code: string }).code, result: 2 }),
);
app.get("/stream", streamBytes);
const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: app.fetch });
console.log(JSON.stringify({ msg: "server.listening", port: server.port }));
