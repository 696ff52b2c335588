import { describe, expect, test } from "bun:test";
import { inspect } from "node:util";
import { createExecutor } from "./create-executor.ts";
import { createHttp } from "./http.ts";
import { readRetryAfter } from "./read-answer.ts";
import { inTurn, json, type Loopback, problem, startLoopback } from "./testing/loopback.ts";
import { startRawServer } from "./testing/raw-server.ts";
import { caller, sampleTask } from "./testing/samples.ts";
import type { Timing } from "./timing.ts";

const fast: Partial<Timing> = { backoffMinMs: 5, backoffMaxMs: 20 };
const connect = (server: Pick<Loopback, "url">, timing = fast) =>
  createHttp({ baseUrl: server.url, token: "secret-token", timing });
const caught = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

describe("a refusal", () => {
  test("is an ExecutorError with everything the problem says", async () => {
    await using server = startLoopback(() => problem(404, "task.not_found"));
    const error = await caught(connect(server).call("readTask", { params: { taskId: "task_1" } }));
    expect(error).toMatchObject({
      name: "ExecutorError",
      message: "task.not_found: what to do",
      code: "task.not_found",
      status: 404,
      detail: "what to do",
      requestId: "req_1",
      data: { hint: 1 },
      retryable: false,
    });
    expect(server.asked).toHaveLength(1);
  });

  test("that is not a problem of ours is a bad answer", async () => {
    await using server = startLoopback(
      () => new Response("<h1>no</h1>", { status: 418, headers: { "content-type": "text/html" } }),
    );
    expect(await caught(connect(server).call("whoami", {}))).toMatchObject({ code: "client.bad_answer", status: 418 });
  });

  test("with a code of a newer server keeps it", async () => {
    await using server = startLoopback(() => json({ code: "moon.full", title: "Wait" }, 409));
    expect(await caught(connect(server).call("whoami", {}))).toMatchObject({ code: "moon.full", detail: "Wait" });
  });
});

describe("a GET", () => {
  const outages: [name: string, answer: () => Response][] = [
    ["502 of a proxy", () => new Response("bad gateway", { status: 502 })],
    ["503", () => problem(503, "store.unavailable")],
    ["504 of a proxy", () => new Response("", { status: 504 })],
    ["429", () => problem(429, "request.rate_limited")],
  ];
  test.each(outages)("is repeated after %s", async (_, outage) => {
    await using server = startLoopback(inTurn(outage, outage, () => json(caller)));
    expect(await connect(server).call("whoami", {})).toEqual(caller as never);
    expect(server.asked).toHaveLength(3);
  });

  test("is repeated after the connection broke, and given up after a few times", async () => {
    await using server = startRawServer((connection) => connection.cut());
    const error = await caught(connect(server).call("whoami", {}));
    expect(error).toMatchObject({ code: "client.unreachable", status: undefined, retryable: true });
    expect(server.connections).toHaveLength(4);
  });

  test("is not repeated after a 500", async () => {
    await using server = startLoopback(() => problem(500, "internal.error"));
    expect(await caught(connect(server).call("whoami", {}))).toMatchObject({ code: "internal.error", retryable: true });
    expect(server.asked).toHaveLength(1);
  });

  test("waits as long as Retry-After says", async () => {
    await using server = startLoopback(
      inTurn(
        () => problem(429, "request.rate_limited", { "retry-after": "1" }),
        () => json(caller),
      ),
    );
    const startedAt = performance.now();
    await connect(server).call("whoami", {});
    expect(performance.now() - startedAt).toBeGreaterThan(950);
  });

  test("gives up at once when Retry-After asks for more patience than we have", async () => {
    await using server = startLoopback(() => problem(429, "request.rate_limited", { "retry-after": "3600" }));
    expect(await caught(connect(server).call("whoami", {}))).toMatchObject({ status: 429, retryAfterMs: 3_600_000 });
    expect(server.asked).toHaveLength(1);
  });

  test("that nobody answers is unreachable in the end", async () => {
    await using server = startRawServer(() => undefined);
    const http = connect(server, { ...fast, requestTimeoutMs: 40, retries: 1 });
    expect(await caught(http.call("whoami", {}))).toMatchObject({ code: "client.unreachable" });
    expect(server.connections).toHaveLength(2);
  });

  test("has the time of its ?wait on top", async () => {
    await using server = startLoopback(async () => {
      await Bun.sleep(120);
      return json(sampleTask());
    });
    const input = { params: { taskId: "task_1" }, query: { wait: 500 }, waitMs: 500 };
    const http = connect(server, { ...fast, requestTimeoutMs: 50, retries: 0 });
    expect(await http.call("readTask", input)).toMatchObject({ taskId: "task_1" });
  });

  test("stops with the signal, also between two attempts", async () => {
    await using server = startLoopback(() => problem(503, "store.unavailable", { "retry-after": "30" }));
    const signal = AbortSignal.timeout(50);
    expect(await caught(connect(server).call("whoami", { signal }))).toMatchObject({ code: "client.aborted" });
  });
});

describe("a POST", () => {
  const body = { code: "return 1", workspaceId: "ws_1" };

  test("is not repeated, for it may have been done", async () => {
    await using server = startRawServer((connection) => connection.cut());
    expect(await caught(connect(server).call("createTask", { body }))).toMatchObject({ code: "client.unreachable" });
    expect(server.connections).toHaveLength(1);
  });

  test("is repeated when the caller says that it is idempotent", async () => {
    await using server = startLoopback(
      inTurn(
        () => problem(503, "store.unavailable"),
        () => json(sampleTask(), 201),
      ),
    );
    await connect(server).call("createTask", { body, idempotent: true });
    expect(server.asked.map((asked) => asked.body)).toEqual([body, body]);
  });
});

describe("an answer that is not ours", () => {
  test("JSON that is none is a bad answer", async () => {
    await using server = startLoopback(() => new Response("<login>", { headers: { "content-type": "text/html" } }));
    expect(await caught(connect(server).call("whoami", {}))).toMatchObject({ code: "client.bad_answer" });
  });

  test("a redirect is not followed: the token stays here", async () => {
    await using other = startLoopback(() => json(caller));
    await using server = startLoopback(() => Response.redirect(`${other.url}/api/auth/me`, 307));
    const error = await caught(connect(server).call("whoami", {}));
    expect(error).toMatchObject({ code: "client.bad_answer", status: 307 });
    expect(other.asked).toEqual([]);
  });

  test("an answer that breaks off is unreachable, not bad", async () => {
    await using server = startRawServer((connection) =>
      connection.answer("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{"),
    );
    const http = connect(server, { ...fast, retries: 0 });
    expect(await caught(http.call("whoami", {}))).toMatchObject({ code: "client.unreachable" });
  });
});

describe("the request", () => {
  test("carries the bearer, and a base path is kept", async () => {
    await using server = startLoopback(() => json(caller));
    await createExecutor({ baseUrl: `${server.url}/below/`, token: "secret-token" }).me();
    expect(server.asked.map(({ path, headers }) => [path, headers.get("authorization")])).toEqual([
      ["/below/api/auth/me", "Bearer secret-token"],
    ]);
  });

  test("ids and paths are encoded", async () => {
    await using server = startLoopback(() => json({}));
    await createExecutor({ baseUrl: server.url, token: "t" }).tools.describe("a/../b?c");
    expect(server.asked[0]?.path).toBe("/api/tools/a%2F..%2Fb%3Fc");
  });

  test.each(["", ".", ".."])("an id of %p is refused here, for it would name another route", async (taskId) => {
    await using server = startLoopback(() => json({}));
    const executor = createExecutor({ baseUrl: server.url, token: "t" });
    expect(await caught(executor.tasks.get(taskId))).toMatchObject({ code: "request.invalid" });
    expect(server.asked).toEqual([]);
  });

  test.each(["", "ftp://x", "http://u:p@x", "http://x?a=1", "nonsense"])("%p is no baseUrl", (baseUrl) => {
    expect(() => createExecutor({ baseUrl, token: "t" })).toThrow(TypeError);
  });
});

describe("the token", () => {
  test("that cannot be a header is refused without being quoted", () => {
    for (const token of ["se cret", "secret\n", "sécret", ""]) {
      expect(() => createExecutor({ baseUrl: "http://x", token })).toThrow("token must be a session id or API key");
    }
  });

  test("is in no error and nowhere on the client", async () => {
    const executor = createExecutor({ baseUrl: "http://127.0.0.1:1", token: "secret-token" });
    const error = await caught(executor.health());
    await using server = startLoopback(() => problem(401, "auth.invalid"));
    const refusal = await caught(createExecutor({ baseUrl: server.url, token: "secret-token" }).me());
    for (const thing of [executor, error, refusal]) {
      expect(inspect(thing, { depth: 20, showHidden: true, getters: true })).not.toContain("secret-token");
      expect(JSON.stringify(thing)).not.toContain("secret-token");
    }
  });
});

test.each([
  ["3", 3_000],
  ["", undefined],
  [null, undefined],
  ["soon", undefined],
  ["Wed, 21 Oct 2015 07:28:00 GMT", 0],
])("Retry-After %p is %p ms", (value, expected) => {
  expect(readRetryAfter(value)).toBe(expected as number);
});
