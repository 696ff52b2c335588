/** What a browser's page, a careless client or an attacker sends over HTTP, and what must come back. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { rssBytes } from "@executor/testkit/installation/process-tree";
import { type Installation, startInstallation } from "@executor/testkit/installation/start-installation";
import { ask, type Person, personOf, signIn } from "./support/api.ts";
import { openSse } from "./support/read-sse.ts";
import { openSocket, readAnswer, sendRaw } from "./support/raw-http.ts";
import { until } from "./support/until.ts";

const MB = 1_000_000;
let installation: Installation;
let person: Person;
beforeAll(async () => {
  installation = await startInstallation();
  person = await signIn(installation);
});
afterAll(() => installation.stop());

const auth = () => `Authorization: Bearer ${person.token}`;
const host = () => `Host: 127.0.0.1:${installation.port}`;
describe("bodies", () => {
  test("13 MB are too much, announced or not, and do not stay in memory", async () => {
    const before = rssBytes([installation.server.pid]);
    const big = JSON.stringify({ code: "x".repeat(13 * MB), workspaceId: person.workspaceId });
    const announced = await person.ask("POST /api/tasks", { body: big });
    expect([announced.status, announced.body.code]).toEqual([413, "request.too_large"]);
    const chunked = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < big.length; at += MB)
          controller.enqueue(new TextEncoder().encode(big.slice(at, at + MB)));
        controller.close();
      },
    });
    const headers = { authorization: `Bearer ${person.token}`, "content-type": "application/json" };
    const answer = await fetch(`${installation.url}/api/tasks`, { method: "POST", headers, body: chunked });
    expect(answer.status).toBe(413);
    expect((await person.ask("GET /api/health")).status).toBe(200);
    expect(rssBytes([installation.server.pid]) - before).toBeLessThan(150 * MB);
  });

  test("bodies that never end cost next to nothing from callers nobody knows", async () => {
    const before = rssBytes([installation.server.pid]);
    const sockets = await Promise.all(Array.from({ length: 40 }, () => openSocket(installation.port)));
    const part = Buffer.alloc(11 * MB, " ");
    for (const socket of sockets) {
      socket.write(
        `POST /api/auth/anonymous/bootstrap HTTP/1.1\r\n${host()}\r\nContent-Type: application/json\r\nContent-Length: 11900000\r\n\r\n`,
      );
      socket.write(part);
    }
    let peak = 0;
    for (let look = 0; look < 15; look++) {
      await Bun.sleep(100);
      peak = Math.max(peak, rssBytes([installation.server.pid]) - before);
    }
    for (const socket of sockets) socket.destroy();
    console.log(`  40 unfinished bodies of 11 MB cost the server ${Math.round(peak / MB)} MB`);
    expect(peak).toBeLessThan(150 * MB);
    expect((await person.ask("GET /api/health")).status).toBe(200);
  });

  test("a body that lies about its length, or announces 100 GB, is answered and holds nothing", async () => {
    const head = (length: string) => [
      "POST /api/tasks HTTP/1.1",
      host(),
      auth(),
      "Content-Type: application/json",
      `Content-Length: ${length}`,
    ];
    const huge = await sendRaw(installation.port, head("100000000000"), "{}");
    expect([0, 400, 413]).toContain(huge.status);
    expect([0, 400]).toContain((await sendRaw(installation.port, head("-1"), "{}")).status);
    expect([0, 400]).toContain(
      (await sendRaw(installation.port, [...head("2"), "Transfer-Encoding: chunked"], "{}")).status,
    );
    expect((await person.ask("GET /api/health")).status).toBe(200);
  });

  test("deep, broken, odd and polluting JSON is refused with 400", async () => {
    const { workspaceId } = person;
    const deep = (depth: number) =>
      `{"code":"return 1","workspaceId":"${workspaceId}","metadata":{"a":${"[".repeat(depth)}${"]".repeat(depth)}}}`;
    const bad = [
      deep(100_000),
      deep(300),
      '{"code":',
      "[]",
      "null",
      '"text"',
      '{"code":"return 1"}',
      `{"code":"return 1","workspaceId":"${workspaceId}","__proto__":{"x":1}}`,
      "\ufeff{}",
      "{}{}",
      `{"code":1,"workspaceId":"${workspaceId}"}`,
    ];
    for (const body of bad) {
      const answer = await person.ask("POST /api/tasks", { body });
      expect([body.slice(0, 60), answer.status, answer.body.code]).toEqual([body.slice(0, 60), 400, "request.invalid"]);
    }
    expect((await person.ask("POST /api/tasks", { body: deep(100) })).status).toBe(201);
  });

  test("queries are strict: unknown, repeated and impossible values are refused", async () => {
    for (const query of [
      "limit=0",
      "limit=201",
      "limit=1e2",
      "limit=-1",
      "wait=999999999",
      "unknown=1",
      "status=nonsense",
      "limit=1&limit=2",
      "cursor=!!!",
      "cursor=W10",
      "workspaceId=a%00b",
      "workspaceId=%F0%9F",
    ]) {
      const answer = await person.ask(`GET /api/tasks?${query}`);
      expect([query, answer.status]).toEqual([query, 400]);
    }
    expect(
      (await person.ask("POST /api/tasks?wait=60001", { body: { code: "return 1", workspaceId: person.workspaceId } }))
        .status,
    ).toBe(400);
  });
});

describe("paths", () => {
  test("no path leads out of the console's folder", async () => {
    const paths = [
      "/../package.json",
      "/..%2fpackage.json",
      "/%2e%2e/%2e%2e/package.json",
      "/..\\..\\package.json",
      "/..%5c..%5cpackage.json",
      "/%00",
      "/index.html%00.png",
      "/%252e%252e%252fpackage.json",
      "//etc/passwd",
      "/./../../../../../../etc/passwd",
      "/assets/../../src/dev.ts",
      "/%c0%ae%c0%ae/package.json",
      "/.git/config",
      "/.env",
      "file:///etc/passwd",
      "http://127.0.0.1/etc/passwd",
      "*",
    ];
    for (const path of paths) {
      const { text, status } = await sendRaw(installation.port, [`GET ${path} HTTP/1.1`, host(), "Connection: close"]);
      expect([path, /root:|"workspaces"|\[core\]|import /.test(text)]).toEqual([path, false]);
      expect([path, status]).not.toEqual([path, 500]);
    }
  });

  test("unknown routes are 404 and wrong methods 405, with what is allowed", async () => {
    for (const path of [
      "/api",
      "/api/",
      "/api/none",
      "/api/tasks/",
      "/api//tasks",
      "/api/tasks/x/y/z",
      "/API/tasks",
      "/internal/none",
      "/mcp/none",
    ]) {
      const answer = await person.ask(`GET ${path}`);
      expect([path, answer.status, answer.body.code]).toEqual([
        path,
        path === "/API/tasks" ? 200 : 404,
        path === "/API/tasks" ? undefined : "route.not_found",
      ]);
    }
    for (const line of [
      "PUT /api/tasks",
      "DELETE /api/tasks",
      "PATCH /api/health",
      "POST /api/health",
      "POST /api/tasks/x",
      "TRACE /api/tasks",
    ]) {
      const [method = "", path = ""] = line.split(" ");
      const answer = await sendRaw(installation.port, [
        `${method} ${path} HTTP/1.1`,
        host(),
        auth(),
        "Content-Length: 0",
        "Connection: close",
      ]);
      expect([line, answer.status]).toEqual([line, 405]);
      expect(answer.text.toLowerCase()).toContain("\r\nallow: ");
    }
  });

  test("huge headers and URLs are refused, and the server goes on", async () => {
    for (const size of [20_000, 200_000, 5 * MB]) {
      const answer = await sendRaw(installation.port, [
        "GET /api/health HTTP/1.1",
        host(),
        `X-Padding: ${"x".repeat(size)}`,
        "Connection: close",
      ]);
      expect([0, 200, 400, 413, 431]).toContain(answer.status);
      const long = await sendRaw(installation.port, [
        `GET /api/tasks?cursor=${"x".repeat(size)} HTTP/1.1`,
        host(),
        auth(),
        "Connection: close",
      ]);
      expect([0, 400, 413, 414, 431]).toContain(long.status);
    }
    const token = await sendRaw(installation.port, [
      "GET /api/tasks HTTP/1.1",
      host(),
      `Authorization: Bearer ${"x".repeat(5_000)}`,
      "Connection: close",
    ]);
    expect(token.status).toBe(401);
    expect((await ask(installation.url, "GET /api/health")).status).toBe(200);
  });
});

test("connections that trickle or never read do not slow others down", async () => {
  const sockets = await Promise.all(Array.from({ length: 100 }, () => openSocket(installation.port)));
  sockets.forEach((socket, index) =>
    socket.write(
      index % 2 === 0
        ? "GET /api/health HTTP/1.1\r\nX-Slow: "
        : `POST /api/tasks HTTP/1.1\r\n${host()}\r\n${auth()}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
    ),
  );
  const streams = await Promise.all(
    Array.from({ length: 20 }, () => openSse(`${installation.url}/api/events`, person.token)),
  );
  const trickle = setInterval(() => sockets.forEach((socket) => socket.write("x")), 100);
  const times: number[] = [];
  for (let i = 0; i < 20; i++) {
    const startedAt = performance.now();
    expect(
      (await person.ask("POST /api/tasks?wait=10000", { body: { code: "return 1", workspaceId: person.workspaceId } }))
        .body["status"],
    ).toBe("completed");
    times.push(performance.now() - startedAt);
  }
  clearInterval(trickle);
  for (const socket of sockets) socket.destroy();
  for (const stream of streams) stream.close();
  expect(Math.max(...times)).toBeLessThan(1_000);
});

test("streams of one bearer are counted; those that were closed are given back", async () => {
  const guest = await signIn(installation);
  const opened = await Promise.all(
    Array.from({ length: 60 }, () => openSse(`${installation.url}/api/events`, guest.token)),
  );
  expect(opened.filter(({ status }) => status === 200)).toHaveLength(50);
  expect(opened.filter(({ status }) => status === 429)).toHaveLength(10);
  for (const stream of opened) stream.close();
  await until("room for a stream", async () => {
    const stream = await openSse(`${installation.url}/api/events`, guest.token);
    stream.close();
    return stream.status === 200;
  });
});

test("pipelined requests and half a request are answered in order or cut, never mixed", async () => {
  const socket = await openSocket(installation.port);
  const line = (path: string) => `GET ${path} HTTP/1.1\r\n${host()}\r\n\r\n`;
  socket.write(
    line("/api/health") + line("/api/none") + line("/api/health").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"),
  );
  const all = await new Promise<string>((resolve) => {
    let text = "";
    socket.on("data", (chunk) => (text += chunk.toString()));
    socket.on("close", () => resolve(text));
    setTimeout(() => resolve(text), 2_000);
  });
  socket.destroy();
  expect([...all.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1])).toEqual(["200", "404", "200"]);
  const half = await openSocket(installation.port);
  half.end("GET /api/health HTTP/1.1\r\nHost: 127");
  expect([0, 400]).toContain((await readAnswer(half, 1_000)).status);
});

test("no token is in any log, database file or audit; files of the data directory are their owner's only", async () => {
  const key = await person.executor.keys.create({ role: "agent", label: "canary" });
  const invite = await person.executor.invites.create({ role: "agent" });
  const agent = personOf(installation.url, key.token, person.session);
  const made = `ex_key_${"Zz09".repeat(11).slice(0, 43)}`;
  await agent.executor.tasks.run(`console.log("hello"); return 1`);
  await ask(installation.url, `GET /api/tasks?token=${key.token}`, { token: key.token });
  await ask(installation.url, `GET /api/tasks/${key.token}`, { token: key.token });
  await ask(installation.url, `POST /api/tasks`, { token: key.token, body: { code: 1, workspaceId: key.token } });
  await ask(installation.url, "GET /api/tasks", { token: made });
  await ask(installation.url, "GET /api/health", {
    headers: { "x-request-id": key.token, cookie: `t=${key.token}`, referer: `http://x/?t=${key.token}` },
  });
  await ask(installation.url, "POST /api/auth/exchange", { body: { code: invite.code } });
  const audit = JSON.stringify((await person.ask("GET /api/audit?limit=200")).body);
  const files = listFiles(installation.home);
  expect(files.some((file) => file.endsWith("executor.db-wal"))).toBe(true);
  for (const secret of [person.token, key.token, invite.code, made]) {
    expect(installation.logs).not.toContain(secret);
    expect(audit).not.toContain(secret);
    for (const file of files) expect([file, readFileSync(file).includes(secret)]).toEqual([file, false]);
  }
  for (const file of files) expect([file, (statSync(file).mode & 0o077).toString(8)]).toEqual([file, "0"]);
  expect((statSync(installation.home).mode & 0o077).toString(8)).toBe("0");
  expect(readFileSync(join(installation.home, "owner-key"), "utf8")).toContain("ex_key_");
});

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
