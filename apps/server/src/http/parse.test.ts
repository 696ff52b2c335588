import { expect, test } from "bun:test";
import { openTestApp, testHost } from "../testing/open-test-app.ts";

const path = "/api/auth/anonymous/bootstrap";

test("a body that is not JSON by its own words is refused, whatever it holds (S03)", async () => {
  await using app = await openTestApp();
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonx",
    "text/json",
  ]) {
    expect([type, (await app.problem("POST", path, { body: "{}", headers: { "content-type": type } })).code]).toEqual([
      type,
      "request.not_json",
    ]);
  }
  expect((await app.problem("POST", path, { body: "{}", headers: { "content-encoding": "gzip" } })).code).toBe(
    "request.not_json",
  );
  for (const type of ["application/json", "application/json; charset=utf-8", "Application/JSON"]) {
    expect((await app.call("POST", path, { body: "{}", headers: { "content-type": type } })).status).toBe(201);
  }
});

test("a body over the limit is refused, with and without Content-Length (S09)", async () => {
  await using app = await openTestApp({ limits: { bodyBytes: 10_000 } });
  expect((await app.problem("POST", path, { body: JSON.stringify({ x: "y".repeat(10_000) }) })).code).toBe(
    "request.too_large",
  );
  let sent = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 1_000;
      controller.enqueue(new TextEncoder().encode(" ".repeat(1_000)));
    },
  });
  const response = await app.fetch(
    new Request(`http://${testHost}${path}`, {
      method: "POST",
      body: endless,
      headers: { host: testHost, "content-type": "application/json" },
    }),
  );
  expect(response.status).toBe(413);
  expect(sent).toBeLessThan(50_000);
});

test("without a bearer only a small body is taken", async () => {
  await using app = await openTestApp();
  const body = JSON.stringify({ sessionId: "x".repeat(20_000) });
  expect((await app.problem("POST", path, { body })).code).toBe("request.too_large");
});

test("deep nesting is refused before anything could fall over it (S09)", async () => {
  await using app = await openTestApp();
  const me = await app.session();
  for (const depth of [201, 100_000, 5_000_000]) {
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":', "}"],
    ] as const) {
      const levels = Math.floor(depth / open.length) + 201;
      const body = `${open.repeat(levels)}1${close.repeat(levels)}`;
      expect((await app.problem("POST", "/api/tasks", { token: me.sessionId, body })).code).toBe("request.invalid");
    }
  }
  const brackets = "[".repeat(1_000);
  expect((await app.call("POST", path, { body: { sessionId: `${brackets}"\\`.slice(0, 150) } })).status).toBe(201);
});

test("broken JSON and broken UTF-8 are refused without an echo", async () => {
  await using app = await openTestApp();
  const problem = await app.problem("POST", path, { body: '{"sessionId": "canary-secret' });
  expect(problem.code).toBe("request.invalid");
  expect(JSON.stringify(problem)).not.toContain("canary");
  const bytes = new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]);
  const response = await app.fetch(
    new Request(`http://${testHost}${path}`, {
      method: "POST",
      body: bytes,
      headers: { host: testHost, "content-type": "application/json" },
    }),
  );
  expect(response.status).toBe(400);
});

test("names of the prototype in a body change nothing (D02)", async () => {
  await using app = await openTestApp();
  const { sessionId: token, workspaceId } = await app.session();
  const body = `{"workspaceId":"${workspaceId}","code":"return 1","metadata":{"__proto__":{"role":"admin"},"constructor":1}}`;
  expect((await app.call("POST", "/api/tasks", { token, body })).status).toBe(201);
  expect(({} as Record<string, unknown>)["role"]).toBeUndefined();
  expect(
    (
      await app.call("POST", "/api/tasks", {
        token,
        body: `{"workspaceId":"${workspaceId}","code":"return 1","__proto__":{"x":1}}`,
      })
    ).status,
  ).not.toBe(500);
});

test("a query that names something twice, or something unknown, is refused", async () => {
  await using app = await openTestApp();
  const { sessionId: token } = await app.session();
  for (const query of [
    "limit=1&limit=2",
    "unknown=1",
    "limit=0",
    "limit=201",
    "limit=-1",
    "limit=1e1",
    "cursor=!!",
    "cursor=bnVsbA",
    "status=done",
  ]) {
    expect([query, (await app.problem("GET", `/api/tasks?${query}`, { token })).code]).toEqual([
      query,
      "request.invalid",
    ]);
  }
});
