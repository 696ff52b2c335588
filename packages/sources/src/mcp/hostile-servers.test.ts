/** Servers that lie, loop, break off and never end: a warning or a clear error, and the product goes on. */
import { afterEach, expect, test } from "bun:test";
import { AppError } from "@executor/contracts/error";
import { type OpenServer, openServer } from "@executor/testkit/mcp/open-server";
import {
  type RawHandler,
  type RawServer,
  result,
  startRawServer,
  textResult,
  toolList,
} from "@executor/testkit/mcp/raw-server";

const running: { server: RawServer; opened?: OpenServer }[] = [];
afterEach(async () => {
  for (const { server, opened } of running.splice(0)) {
    await opened?.close();
    await server.stop();
  }
});

function start(handle: RawHandler): RawServer {
  const server = startRawServer(handle);
  running.push({ server });
  return server;
}
async function open(handle: RawHandler, options?: { maxResultBytes: number }): Promise<OpenServer> {
  const server = start(handle);
  const opened = await openServer(server.url, options);
  running.push({ server, opened });
  return opened;
}
const unreadable = (handle: RawHandler): Promise<unknown> =>
  openServer(start(handle).url).then(
    () => "read",
    (error: unknown) => (error instanceof AppError ? error.code : error),
  );

const listing =
  (list: unknown, call: RawHandler = () => textResult("done")): RawHandler =>
  (message, request) => {
    if (message.method === "tools/list") return list;
    return message.method === "tools/call" ? call(message, request) : undefined;
  };
const one = (call: RawHandler, annotations: object = {}): RawHandler =>
  listing(toolList({ name: "go", annotations }), call);

test("a list with odd tools keeps the good ones and says what was left out", async () => {
  const deep = `${'{"a":'.repeat(25_000)}1${"}".repeat(25_000)}`;
  // Written as text: nobody else's JSON goes as deep.
  const asText = (id: unknown, value: object): Response =>
    new Response(JSON.stringify({ jsonrpc: "2.0", id, result: value }).replace('"DEEP"', deep), {
      headers: { "content-type": "application/json" },
    });
  const { index } = await open(({ id, method }) =>
    method !== "tools/list"
      ? undefined
      : asText(id, {
          tools: [
            { name: "good", inputSchema: { type: "object" } },
            { name: 5, inputSchema: { type: "object" } },
            "no tool",
            { name: "no_schema" },
            { name: "good", inputSchema: { type: "object" }, description: "another one" },
            { name: "__proto__", inputSchema: { type: "object", properties: { ["__proto__"]: { type: "string" } } } },
            { name: "x".repeat(300), inputSchema: { type: "object" } },
            { name: `${"x".repeat(299)}y`, inputSchema: { type: "object" } },
            { name: "deep", inputSchema: { type: "object", properties: "DEEP" } },
            { name: "large", inputSchema: { type: "object", description: "x".repeat(600_000) } },
          ],
        }),
  );
  const names = index.tools.map(({ name }) => name);
  expect(names.slice(0, 2)).toEqual(["good", "proto_tool"]);
  expect(names.every((name) => /^[A-Za-z][\w]{0,120}$/.test(name))).toBe(true);
  expect(new Set(names).size).toBe(names.length);
  expect(index.warnings.join("\n")).toContain('"good" was left out: its name is there twice');
  expect(index.warnings.filter((text) => text.includes("no name or no schema"))).toHaveLength(3);
  expect(index.warnings.join("\n")).toContain('"deep" was left out: its schema is too deep');
  expect(index.warnings.join("\n")).toContain('"large" was left out: its schema is too large');
  expect(({} as Record<string, unknown>)["type"]).toBeUndefined();
});

test("pages that go round in circles end, and what was read counts", async () => {
  const pages: Record<string, object> = {
    first: { tools: [{ name: "a", inputSchema: { type: "object" } }], nextCursor: "second" },
    second: { tools: [{ name: "b", inputSchema: { type: "object" } }], nextCursor: "first" },
  };
  const { index } = await open(({ method, params }) =>
    method === "tools/list" ? result(pages[String(params?.["cursor"] ?? "first")]) : undefined,
  );
  expect(index.tools.map(({ name }) => name)).toEqual(["a", "b"]);
  expect(index.warnings).toContain("The list of tools goes round in circles; it was read once.");
});

test("a list without end is cut, with a warning", async () => {
  let pages = 0;
  const { index } = await open(({ method }) => {
    if (method !== "tools/list") return undefined;
    const tools = Array.from({ length: 2_000 }, (_, n) => ({
      name: `t${pages}_${n}`,
      inputSchema: { type: "object" },
    }));
    return result({ tools, nextCursor: String(++pages) });
  });
  expect(index.tools).toHaveLength(20_000);
  expect(pages).toBe(10);
  expect(index.warnings.join()).toContain("has no end");
});

test("a reference in a schema is data: nothing is ever fetched for it", async () => {
  let fetched = 0;
  const other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => (fetched++, Response.json({})) });
  const inputSchema = {
    type: "object",
    properties: {
      a: { $ref: `http://127.0.0.1:${other.port}/schema.json` },
      b: { $ref: "file:///etc/passwd" },
      c: { $ref: "#/$defs/loop" },
    },
    $defs: { loop: { $ref: "#/$defs/loop" } },
  };
  const opened = await open(listing(toolList({ name: "refs", inputSchema, outputSchema: inputSchema })));
  expect(await opened.call("refs", { input: { a: 1 } })).toEqual({ ok: true, json: '"done"' });
  expect(opened.index.details).toContain("file:///etc/passwd");
  expect(fetched).toBe(0);
  await other.stop(true);
});

const broken: [what: string, handle: RawHandler][] = [
  ["answers with broken JSON", () => new Response("{", { headers: { "content-type": "application/json" } })],
  ["answers with a page", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
  ["answers with JSON that is no message", () => Response.json([1, 2, 3])],
  ["lists no list", listing(result({ tools: "many" }))],
  ["fails at the list", listing(new Response("boom", { status: 500 }))],
];
test.each(broken)(
  "a server that %s cannot be read, and says so",
  async (_, handle) => {
    expect(await unreadable(handle)).toBe("source.unreadable");
  },
  40_000,
);

test("one that wants a sign-in only for its list says so too", async () => {
  const challenge = 'Bearer scope="pets:read"';
  const headers = { "www-authenticate": challenge };
  const error = await openServer(
    start(({ method }) => (method === "tools/list" ? new Response("no", { status: 401, headers }) : undefined)).url,
  ).catch((thrown: unknown) => thrown as AppError);
  expect(error).toMatchObject({ code: "credential.missing", data: { status: 401, challenge } });
});

const stream = (write: (push: (text: string) => void) => void): Response =>
  new Response(
    new ReadableStream({
      start: (controller) => write((text) => controller.enqueue(new TextEncoder().encode(text))),
    }),
    { headers: { "content-type": "text/event-stream" } },
  );

test("an endless stream ends with the call's time, and the next call goes on", async () => {
  let isEndless = true;
  const timers: ReturnType<typeof setInterval>[] = [];
  const opened = await open(
    one(() =>
      isEndless
        ? stream((push) => void timers.push(setInterval(() => push(": on and on\n\n"), 20)))
        : textResult("done"),
    ),
  );
  const sent = await opened.call("go", { signal: AbortSignal.timeout(300) });
  expect(sent).toMatchObject({ ok: false, message: expect.stringContaining("may have happened") });
  isEndless = false;
  expect(await opened.call("go")).toEqual({ ok: true, json: '"done"' });
  for (const timer of timers) clearInterval(timer);
});

test("progress keeps a call alive and is no result; what is too large is refused by its size", async () => {
  const opened = await open(
    one(({ id, params }) => {
      const { progressToken } = (params?.["_meta"] ?? {}) as { progressToken?: unknown };
      const note = { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 1 } };
      const answer = { jsonrpc: "2.0", id, ...textResult("x".repeat(params?.["arguments"] ? 2_000 : 0)) };
      return stream((push) => {
        for (const each of [note, note, answer]) push(`data: ${JSON.stringify(each)}\n\n`);
      });
    }),
    { maxResultBytes: 1_000 },
  );
  expect(await opened.call("go")).toMatchObject({ ok: false, code: "call.result_too_large" });
});

test("a result that does not fit the tool's own output schema is still the result: it happened", async () => {
  const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  const opened = await open(listing(toolList({ name: "go", outputSchema })));
  expect(await opened.call("go")).toEqual({ ok: true, json: '"done"' });
});
