/** From a request to an outcome, against a real server on loopback: secrets, retries, what answers become. */
import { afterAll, describe, expect, test } from "bun:test";
import { AppError } from "@executor/contracts/error";
import type { AuthPart, CallIo } from "@executor/core/ports/source";
import { createLoopbackFetch } from "@executor/testkit/tools/loopback-fetch";
import { applyAuth } from "./apply-auth.ts";
import { createRedactor } from "./redact.ts";
import { retryAfterMs, sendRequest } from "./send-request.ts";

let answer: (request: Request) => Response | Promise<Response> = () => new Response();
let requests = 0;
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request) => {
    requests++;
    return answer(request);
  },
});
afterAll(() => server.stop(true));
const url = `http://127.0.0.1:${server.port}/x`;

const secret = "canary/s3cret+1";
const io = (parts: AuthPart[] = [], maxResultBytes = 100_000): CallIo => ({
  fetch: createLoopbackFetch(),
  auth: { parts, secrets: parts.map(({ value }) => value) },
  maxResultBytes,
});
const send = (safe: boolean, callIo = io()) => {
  requests = 0;
  return sendRequest(
    { method: safe ? "GET" : "POST", url, headers: [], body: null, safe, signal: AbortSignal.timeout(20_000) },
    callIo,
  );
};

describe("what an answer becomes", () => {
  const cases: [type: string, body: string | Uint8Array<ArrayBuffer>, json: unknown][] = [
    ["application/json", '{"a": 1.50}', { a: 1.5 }],
    ["application/problem+json", "[1]", [1]],
    ["text/plain", "hello", "hello"],
    ["applcation/json", '{"a":1}', { a: 1 }],
    ["text/plain", '{"a":1}', { a: 1 }],
    ["application/json", "not json", "not json"],
    [
      "text/event-stream",
      'event: a\ndata: {"n":1}\n\ndata: two\ndata: lines\n\n',
      [{ event: "a", data: { n: 1 } }, { data: "two\nlines" }],
    ],
    ["application/x-jsonl", '{"a":1}\n{"a":2}\n', [{ a: 1 }, { a: 2 }]],
    ["application/x-amz-json-1.1", '{"a":1}', { a: 1 }],
    ["application/vnd.thing.v2.json", '{"a":1}', { a: 1 }],
    ["application/vnd.github.v3.diff", "+a", "+a"],
    ["application/jwt", "a.b.c", "a.b.c"],
    ["application/x-ndjson", '{"a":1}\n{"a":2}\n', [{ a: 1 }, { a: 2 }]],
    ["image/png", new Uint8Array([1, 2, 3]), { contentType: "image/png", base64: "AQID", size: 3 }],
    ["application/json", "", null],
  ];
  test.each(cases)("%s %p", async (type, body, json) => {
    answer = () => new Response(body, { headers: { "content-type": type } });
    const outcome = await send(true);
    expect(outcome.ok && JSON.parse(outcome.json)).toEqual(json as never);
  });
  test("an error keeps its status and body, and says what the other side says", async () => {
    answer = () => Response.json({ error: { message: "no such thing" } }, { status: 404 });
    expect(await send(true)).toEqual({
      ok: false,
      code: "call.upstream_error",
      message: "The other side answered 404. no such thing",
      status: 404,
      bodyJson: '{"error":{"message":"no such thing"}}',
    });
  });
  test("too much is refused, however it comes (S18)", async () => {
    answer = () => new Response("x".repeat(5_000));
    expect(await send(true, io([], 1_000))).toMatchObject({ ok: false, code: "call.result_too_large" });
    answer = () => new Response(new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(10_000)) }));
    expect(await send(true, io([], 1_000))).toMatchObject({ ok: false, code: "call.result_too_large" });
  });
});

describe("secrets", () => {
  const forms = [
    secret,
    encodeURIComponent(secret),
    encodeURIComponent(secret).toLowerCase(),
    btoa(secret),
    btoa(`user:${secret}`),
    JSON.stringify(secret),
    secret.toUpperCase(),
  ];
  test.each(forms)("as %s do not come back", async (form) => {
    answer = () => Response.json({ echoed: form });
    const outcome = await send(true, io([{ in: "header", name: "authorization", value: secret }]));
    expect(JSON.stringify(outcome)).toContain("[redacted]");
    expect(JSON.stringify(outcome)).not.toContain(form);
  });
  const escaped = (text: string) =>
    [...text].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
  const percent = (text: string) => [...text].map((each) => `%${each.charCodeAt(0).toString(16)}`).join("");
  const html = (text: string) => [...text].map((each) => `&#x${each.charCodeAt(0).toString(16)};`).join("");
  const disguises: [name: string, body: string | Uint8Array<ArrayBuffer>, type: string][] = [
    ["every character a JSON escape", `{"a":"${escaped(secret)}"}`, "application/json"],
    [
      "one character a JSON escape",
      `{"a":"${secret.replace("+", "\\u002b").replace("/", "\\/")}"}`,
      "application/json",
    ],
    ["JSON in JSON", JSON.stringify({ a: JSON.stringify({ b: escaped(secret) }) }), "application/json"],
    ["every character in percent", `next=${percent(secret)}`, "text/plain"],
    [
      "encoded for a URL twice",
      JSON.stringify({ to: encodeURIComponent(encodeURIComponent(secret)) }),
      "application/json",
    ],
    ["every character an HTML entity", `<p>${html(secret)}</p>`, "text/html"],
    ["base64 over several lines", btoa(`xx${secret}`).replace(/(.{5})/g, "$1\r\n"), "text/plain"],
    ["hex", Buffer.from(secret).toString("hex").toUpperCase(), "text/plain"],
    ["UTF-16 bytes", new Uint8Array(Buffer.from(secret, "utf16le")), "application/octet-stream"],
    ["an event", `data: {"a":"${escaped(secret)}"}\n\n`, "text/event-stream"],
  ];
  test.each(disguises)("as %s do not come back (S25, D05)", async (_, body, type) => {
    for (const status of [200, 400]) {
      answer = () => new Response(body, { status, headers: { "content-type": type } });
      const outcome = await send(false, io([{ in: "header", name: "authorization", value: secret }]));
      const text = JSON.stringify(outcome);
      expect(text).toMatch(/redacted/);
      const json = outcome.ok ? outcome.json : (outcome.bodyJson ?? "");
      expect(() => JSON.parse(json) as unknown).not.toThrow();
      expect(text).not.toContain(percent(secret));
      expect(text).not.toContain(html(secret).slice(0, 30));
      expect(text).not.toContain(escaped(secret).slice(2, 20));
    }
  });
  test("leave numbers and escapes that JSON needs as they were", () => {
    const text = '{"n":123456789012345678901234567890,"s":"a\\u0000\\"\\\\u0041 \\ud83d\\ude00"}';
    expect(createRedactor(["canary-secret-long"])(text)).toBe(text);
    expect(createRedactor(["password"])("pass word, p%61ss")).toBe("pass word, p%61ss");
  });
  test("in bytes, in errors and as a number do not come back, and JSON stays JSON", async () => {
    const auth = io([{ in: "query", name: "key", value: "12345678" }]);
    answer = () =>
      new Response('{"pin": 12345678, "n": 9123456780}', {
        status: 400,
        headers: { "content-type": "application/json" },
      });
    const failed = await send(true, auth);
    expect(failed.ok ? "" : JSON.parse(failed.bodyJson ?? "")).toMatchObject({ pin: "[redacted]" });
    answer = () =>
      new Response(Buffer.from("..12345678.."), { headers: { "content-type": "application/octet-stream" } });
    const bytes = await send(true, auth);
    expect(bytes.ok && JSON.parse(bytes.json)).toMatchObject({ base64: "", redacted: true });
  });
  test("win over what a call gives under the same name, however it is spelt", () => {
    const parts: AuthPart[] = [
      { in: "query", name: "api_key", value: "right" },
      { in: "cookie", name: "sid", value: "right" },
      { in: "header", name: "X-Key", value: "right" },
    ];
    const made = applyAuth(
      {
        url: "https://a.example/p?%61pi_key=evil&b=1#f",
        headers: [
          ["cookie", "sid=evil; b=1"],
          ["x-key", "evil"],
        ],
      },
      { parts, secrets: ["right"] },
    );
    expect([made.url, made.headers.get("cookie"), made.headers.get("x-key")]).toEqual([
      "https://a.example/p?b=1&api_key=right",
      "b=1; sid=right",
      "right",
    ]);
    expect(() =>
      applyAuth({ url: "https://a.example", headers: [["Authorization", "mine"]] }, { parts: [], secrets: [] }),
    ).toThrow(AppError);
    const injected: AuthPart[] = [{ in: "cookie", name: "sid", value: "a; admin=1" }];
    expect(() => applyAuth({ url: "https://a.example", headers: [] }, { parts: injected, secrets: [] })).toThrow(
      AppError,
    );
  });
  test("that are short or absent leave a text as it is", () => {
    expect(createRedactor(["abc"])("abc abc")).toBe("abc abc");
  });
});

describe("retries (R04)", () => {
  test("a safe request is repeated while the other side is busy, an unsafe one never", async () => {
    answer = () =>
      requests < 3 ? new Response("busy", { status: 503, headers: { "retry-after": "0" } }) : Response.json("done");
    expect(await send(true)).toEqual({ ok: true, json: '"done"' });
    expect(requests).toBe(3);
    expect(await send(false)).toMatchObject({ ok: false, status: 503 });
    expect(requests).toBe(1);
  });
  test("R04: a failure of the other side is looked at once more where that is safe, and not more", async () => {
    answer = () => (requests === 1 ? new Response("", { status: 500 }) : Response.json("done"));
    expect(await send(true)).toEqual({ ok: true, json: '"done"' });
    answer = () => new Response("", { status: 500 });
    expect(await send(true)).toMatchObject({ ok: false, status: 500 });
    expect(requests).toBe(2);
    expect(await send(false)).toMatchObject({ ok: false, status: 500 });
    expect(requests).toBe(1);
  });
  test("a server that asks for more patience than a call has is not waited for", async () => {
    answer = () => new Response("", { status: 429, headers: { "retry-after": "3600" } });
    expect(await send(true)).toMatchObject({ ok: false, status: 429 });
    expect(requests).toBe(1);
  });
  test("Retry-After is read in seconds and as a date", () => {
    expect(retryAfterMs("2")).toBe(2_000);
    expect(retryAfterMs("Wed, 18 Nov 2026 12:00:05 GMT", Date.parse("2026-11-18T12:00:00Z"))).toBe(5_000);
    expect(retryAfterMs("soon")).toBeNull();
  });
  test("an unsafe request whose answer was lost says that it may have happened", async () => {
    const dead = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: (socket) => void socket.end() } });
    try {
      const request = {
        method: "POST",
        url: `http://127.0.0.1:${dead.port}/`,
        headers: [],
        body: "{}",
        safe: false,
        signal: AbortSignal.timeout(10_000),
      };
      const outcome = await sendRequest(request, io());
      expect(outcome).toMatchObject({ ok: false, code: "egress.failed" });
      expect(outcome.ok ? "" : outcome.message).toContain("may have happened");
    } finally {
      dead.stop(true);
    }
  });
});
