/** What a call of an OpenAPI source puts on the wire and what comes back, on the real product: places, files, answers, security, retries. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type Installation, startInstallation } from "@executor/testkit/installation/start-installation";
import { type Person, signIn } from "./support/api.ts";

interface Seen {
  method: string;
  target: string;
  headers: Headers;
  body: string;
  at: number;
}
const seen: Seen[] = [];
let busy: string[] = [];
const answers: Record<string, () => Response> = {
  "/sse": () =>
    new Response('event: a\ndata: {"x":1}\n\ndata: hi\n\n', { headers: { "content-type": "text/event-stream" } }),
  "/png": () => new Response(new Uint8Array([137, 80]), { headers: { "content-type": "image/png" } }),
  "/empty": () => new Response(null, { status: 204 }),
  "/teapot": () => Response.json({ error: { message: "I am a teapot" } }, { status: 418 }),
};
const api = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const { pathname, search } = new URL(request.url);
    if (pathname === "/openapi.json") return Response.json(document);
    const { method, headers } = request;
    seen.push({ method, target: pathname + search, headers, body: await request.text(), at: Date.now() });
    const retryAfter = busy.shift();
    if (retryAfter !== undefined) return new Response("busy", { status: 503, headers: { "retry-after": retryAfter } });
    return answers[pathname]?.() ?? Response.json({ ok: true });
  },
});
const ok = { tags: ["t"], responses: { 200: { description: "", content: { "application/json": {} } } } };
const text = { type: "string" };
const list = { type: "array", items: text };
const get = (operationId: string, more: object = {}) => ({ get: { operationId, ...ok, ...more } });
const document = {
  openapi: "3.1.0",
  info: { title: "Wire", version: "1" },
  components: {
    securitySchemes: { b: { type: "http", scheme: "bearer" }, k: { type: "apiKey", in: "query", name: "k" } },
  },
  security: [{ b: [] }],
  paths: {
    "/m/{a}/l/{b}/s/{c}": get("places", {
      parameters: [
        { name: "a", in: "path", required: true, style: "matrix", explode: true, schema: list },
        { name: "b", in: "path", required: true, style: "label", explode: true, schema: list },
        { name: "c", in: "path", required: true, schema: text },
        { name: "deep", in: "query", style: "deepObject", explode: true, schema: { type: "object" } },
        { name: "json", in: "query", content: { "application/json": { schema: { type: "object" } } } },
        { name: "sid", in: "cookie", schema: text },
      ],
    }),
    "/upload": {
      post: {
        operationId: "upload",
        requestBody: {
          content: {
            "multipart/form-data": {
              schema: { type: "object", properties: { file: { type: "string", format: "binary" }, note: text } },
            },
          },
        },
        ...ok,
      },
    },
    "/order": { post: { operationId: "order", ...ok } },
    "/open": get("open", { security: [] }),
    "/either": get("either", { security: [{ k: [] }, { b: [] }, {}] }),
    ...Object.fromEntries(["sse", "png", "empty", "teapot", "slow"].map((name) => [`/${name}`, get(name)])),
  },
};

const SECRET = "canary-of-the-wire-5d1f";
let installation: Installation;
let person: Person;
beforeAll(async () => {
  installation = await startInstallation();
  person = await signIn(installation);
  const source = await person.executor.sources.add({
    type: "openapi",
    name: "wire",
    spec: `http://127.0.0.1:${api.port}/openapi.json`,
    defaultWriteApproval: "auto",
    auth: { mode: "workspace", type: "bearer" },
  });
  expect(await person.executor.sources.waitUntilRead(source.sourceId)).toMatchObject({ health: "ok", warnings: [] });
}, 30_000);
beforeEach(() => {
  seen.length = 0;
  busy = [];
});
afterAll(async () => {
  await installation.stop();
  await api.stop(true);
});

const call = (name: string, input: object = {}): Promise<unknown> =>
  person.executor.tasks.run(
    `try { return await tools.wire.t.${name}(${JSON.stringify(input)}) } catch (error) { return { ...error, code: error.code, message: error.message } }`,
    { timeoutMs: 20_000 },
  );

test("an operation that says it needs no credential is called without one, and nobody is asked", async () => {
  expect(await call("open")).toEqual({ ok: true });
  expect(seen.map(({ headers }) => headers.get("authorization"))).toEqual([null]);
});

test("with a credential, it goes where it is needed and nowhere else", async () => {
  await person.executor.credentials.set({ sourceKey: "wire", scope: "workspace", secretJson: { token: SECRET } });
  expect([await call("either"), await call("sse"), await call("open")]).toHaveLength(3);
  expect(seen.map(({ headers }) => headers.get("authorization"))).toEqual([
    `Bearer ${SECRET}`,
    `Bearer ${SECRET}`,
    null,
  ]);
});

test("parameters of every place arrive in their style", async () => {
  await call("places", { a: ["x", "y/z"], b: ["1", "2"], c: "p q", deep: { k: "v&w" }, json: { a: [1] }, sid: "a;b" });
  expect(seen[0]?.target).toBe("/m/;a=x;a=y%2Fz/l/.1.2/s/p%20q?deep%5Bk%5D=v%26w&json=%7B%22a%22%3A%5B1%5D%7D");
  expect(seen[0]?.headers.get("cookie")).toBe("sid=a%3Bb");
});

test("a file of base64 goes as a part with its name, type and bytes", async () => {
  const file = { base64: btoa("hello"), filename: "a.txt", contentType: "text/plain" };
  await call("upload", { file, note: "x" });
  const [{ body, headers } = { body: "", headers: new Headers() }] = seen;
  expect(headers.get("content-type")).toStartWith("multipart/form-data; boundary=");
  expect(body).toMatch(/name="file"; filename="a.txt"\r\nContent-Type: text\/plain\r\n\r\nhello\r\n/);
  expect(body).toMatch(/name="note"\r\n\r\nx\r\n/);
});

test("events, bytes and nothing come back as a list, base64 and null; an error has status and body", async () => {
  expect(await call("sse")).toEqual([{ event: "a", data: { x: 1 } }, { data: "hi" }]);
  expect(await call("png")).toEqual({ contentType: "image/png", base64: "iVA=", size: 2 });
  expect(await call("empty")).toBeNull();
  const error = { code: "call.upstream_error", status: 418, body: { error: { message: "I am a teapot" } } };
  expect(await call("teapot")).toMatchObject({ ...error, message: expect.stringContaining("I am a teapot") });
});

test.each(["seconds", "a date"])(
  "a read is tried again when the other side says, in %s; a write never",
  async (form) => {
    busy = [form === "seconds" ? "1" : new Date(Date.now() + 2_000).toUTCString()];
    expect(await call("slow")).toEqual({ ok: true });
    expect(seen).toHaveLength(2);
    expect((seen[1]?.at ?? 0) - (seen[0]?.at ?? 0)).toBeGreaterThan(900);
    busy = ["0"];
    expect(await call("order")).toMatchObject({ code: "call.upstream_error", status: 503 });
    expect(seen.filter(({ method }) => method === "POST")).toHaveLength(1);
  },
);
