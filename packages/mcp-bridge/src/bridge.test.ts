/** The bridge against servers that misbehave; against the real one in e2e/mcp-bridge.test.ts. */
import { expect, test } from "bun:test";
import { runBridge } from "./bridge.ts";
import { readLines } from "./read-lines.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
async function* chunksOf(...chunks: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === "string" ? encode(chunk) : chunk;
}
async function run(lines: unknown[], answer: (request: Request) => Response | Promise<Response>) {
  const [out, logs]: [Record<string, unknown>[], string[]] = [[], []];
  await runBridge({
    url: "http://bridge.test/mcp",
    token: "t0ken",
    input: chunksOf(...lines.map((line) => (typeof line === "string" ? `${line}\n` : `${JSON.stringify(line)}\n`))),
    write: (line) => out.push(JSON.parse(line) as Record<string, unknown>),
    log: (line) => logs.push(line),
    fetch: async (url, init) => await answer(new Request(url, init)),
  });
  return { out, logs };
}
const call = { jsonrpc: "2.0", id: 1, method: "tools/list" };

test("lines come out whole, whatever the chunks: cut characters, several in one, none at the end", async () => {
  const umlaut = encode("ä\n");
  const lines: string[] = [];
  for await (const line of readLines(chunksOf("a\nb", "c\r\n", umlaut.slice(0, 1), umlaut.slice(1), "\nlast")))
    lines.push(line);
  expect(lines).toEqual(["a", "bc", "ä", "", "last"]);
});

test("what is no JSON gets a parse error; what is empty, nothing", async () => {
  const { out } = await run(["{", "", "[1]"], () => Response.json({}));
  expect(out.map(({ error }) => (error as { code: number }).code)).toEqual([-32_700, -32_700]);
});

test("the key goes along, and headers of the newer revision are made from the message", async () => {
  const seen: Headers[] = [];
  const params = { name: "execute", _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } };
  await run([{ ...call, method: "tools/call", params }], ({ headers }) => {
    seen.push(headers);
    return Response.json({ jsonrpc: "2.0", id: 1, result: {} });
  });
  expect(Object.fromEntries(seen[0] ?? [])).toMatchObject({
    authorization: "Bearer t0ken",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "execute",
  });
});

test("a refusal without an id, a stream that breaks off and an unreachable server are answers to the request", async () => {
  const refused = await run([call], () =>
    Response.json({ jsonrpc: "2.0", id: null, error: { code: -32_000, message: "no" } }, { status: 401 }),
  );
  expect(refused.out).toEqual([{ jsonrpc: "2.0", id: 1, error: { code: -32_000, message: "no" } }]);
  const broken = await run(
    [call],
    () => new Response(": hello\n\n", { headers: { "content-type": "text/event-stream" } }),
  );
  expect(broken.out).toMatchObject([{ id: 1, error: { message: expect.stringContaining("broke off") } }]);
  const gone = await run([call], () => Promise.reject(new Error("socket closed")));
  expect(gone.out).toMatchObject([{ id: 1, error: { message: expect.stringContaining("cannot be reached") } }]);
});

test("a connection that was refused is tried again; one that broke is not, for the request may have arrived", async () => {
  let attempts = 0;
  const { out } = await run([call], () => {
    if (++attempts < 3) throw new Error("Unable to connect: ECONNREFUSED");
    return Response.json({ jsonrpc: "2.0", id: 1, result: { tools: [] } });
  });
  expect([attempts, out]).toEqual([3, [{ jsonrpc: "2.0", id: 1, result: { tools: [] } }]]);
  attempts = 0;
  await run([call], () => {
    attempts++;
    throw new Error("The socket connection was closed unexpectedly");
  });
  expect(attempts).toBe(1);
});

test("a session that the server lost is opened again as the host opened it, and the request goes through", async () => {
  const seen: string[] = [];
  let sessions = 0;
  const { out, logs } = await run(
    [
      { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      call,
    ],
    async (request) => {
      if (request.method === "DELETE") return new Response(null, { status: 200 });
      const { id, method } = (await request.json()) as { id?: unknown; method: string };
      const session = request.headers.get("mcp-session-id");
      seen.push(`${method} ${session ?? "-"}`);
      if (method === "initialize")
        return Response.json(
          { jsonrpc: "2.0", id, result: { protocolVersion: "2025-11-25" } },
          { headers: { "mcp-session-id": `s${++sessions}` } },
        );
      if (method === "tools/list" && session === "s1")
        return Response.json({ error: { code: -32_001 } }, { status: 404 });
      if (id === undefined) return new Response(null, { status: 202 });
      return Response.json({ jsonrpc: "2.0", id, result: { tools: [] } });
    },
  );
  expect(seen).toEqual([
    "initialize -",
    "notifications/initialized s1",
    "tools/list s1",
    "initialize -",
    "notifications/initialized s2",
    "tools/list s2",
  ]);
  expect(out.map(({ id }) => id)).toEqual([0, 1]);
  expect(logs).toEqual(["the session was gone and has been opened again"]);
});
