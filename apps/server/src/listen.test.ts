/** What only a real socket shows: clients that leave, that never read, and that send too much. */
import { afterEach, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import type { Session } from "@executor/contracts/identity";
import { listen, type Listening } from "./listen.ts";
import { MAX_STREAMS } from "./routes/events.ts";
import { openTestApp, type TestApp, type TestOptions } from "./testing/open-test-app.ts";
import { createStandInWorker } from "./testing/stand-in-worker.ts";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

test("a port that is taken is a clear refusal, never shared", async () => {
  const { app, server } = await start();
  expect(() => listen({ ...app.deps, env: { ...app.deps.env, port: server.port } })).toThrow(/already/);
  const other = Bun.spawnSync([
    process.execPath,
    "-e",
    `try { Bun.serve({ hostname: "127.0.0.1", port: ${server.port}, development: false, fetch: () => new Response() }); console.log("shared"); process.exit() } catch { console.log("refused") }`,
  ]);
  expect(other.stdout.toString().trim()).toBe("refused");
});

test("a client that leaves frees its stream", async () => {
  const { app, server } = await start();
  const me = await app.session();
  const openAll = () => Promise.all(Array.from({ length: MAX_STREAMS }, () => openStream(server, me)));
  for (const { socket } of await openAll()) socket.destroy();
  await Bun.sleep(300);
  const again = await openAll();
  expect(again.map(({ head }) => head.split("\r\n", 1)[0])).toEqual(
    Array.from({ length: MAX_STREAMS }, () => "HTTP/1.1 200 OK"),
  );
  for (const { socket } of again) socket.destroy();
});

test("a client that never reads costs little memory, whatever the length of the log (S10)", async () => {
  const { app, server } = await start();
  const me = await app.session();
  const worker = createStandInWorker(app.store);
  const { taskId } = await app.json<{ taskId: string }>("POST", "/api/tasks", 201, {
    token: me.sessionId,
    body: { code: "return 1", workspaceId: me.workspaceId },
  });
  const fence = await worker.claim(taskId);
  // 100,000 events of 1 kB.
  for (let batch = 0; batch < 50; batch++)
    await worker.print(
      fence,
      Array.from({ length: 2_000 }, () => "x".repeat(1_000)),
    );
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  const stuck = await Promise.all(
    Array.from({ length: 20 }, () => openStream(server, me, `/api/tasks/${taskId}/events`, { reads: false })),
  );
  await Bun.sleep(1_500);
  const startedMs = performance.now();
  expect((await fetch(`http://127.0.0.1:${server.port}/api/health`)).status).toBe(200);
  expect(performance.now() - startedMs).toBeLessThan(1_000);
  // 20 clients that want 110 MB each would be over 2 GB.
  expect(process.memoryUsage.rss() - before).toBeLessThan(200_000_000);
  for (const { socket } of stuck) socket.destroy();
  const response = await fetch(`http://127.0.0.1:${server.port}/api/tasks/${taskId}/events`, {
    headers: { authorization: `Bearer ${me.sessionId}` },
  });
  const reading = countEvents(response);
  await worker.print(fence, ["last"]);
  await app.json("POST", `/api/tasks/${taskId}/cancel`, 200, {
    token: me.sessionId,
    body: { workspaceId: me.workspaceId },
  });
  // created, queued, running, the lines, cancelled
  expect(await reading).toEqual({ events: 100_005, gaps: 0 });
}, 60_000);

test("a body of 100 MB is refused without being kept (S09)", async () => {
  const { server } = await start();
  const url = `http://127.0.0.1:${server.port}/api/auth/anonymous/bootstrap`;
  const before = process.memoryUsage.rss();
  const status = await sendBody(server, 100_000_000);
  expect(status).toContain("413");
  expect(process.memoryUsage.rss() - before).toBeLessThan(150_000_000);
  expect((await fetch(url, { method: "POST" })).status).toBe(201);
});

test("stopping ends streams and waits, and comes to an end", async () => {
  const { app, server } = await start();
  const me = await app.session();
  const { taskId } = await app.json<{ taskId: string }>("POST", "/api/tasks", 201, {
    token: me.sessionId,
    body: { code: "return 1", workspaceId: me.workspaceId },
  });
  const headers = { authorization: `Bearer ${me.sessionId}` };
  const stream = await fetch(`http://127.0.0.1:${server.port}/api/events`, { headers });
  const waiting = fetch(`http://127.0.0.1:${server.port}/api/tasks/${taskId}?wait=60000`, { headers });
  await Bun.sleep(50);
  const startedMs = performance.now();
  app.stop();
  await server.stop();
  expect(await stream.text()).toMatch(/^: open\nid: \d+\n\n$/);
  expect((await waiting).status).toBe(200);
  expect(performance.now() - startedMs).toBeLessThan(2_000);
});

async function start(options: TestOptions = {}): Promise<{ app: TestApp; server: Listening }> {
  const app = await openTestApp(options);
  const server = listen({ ...app.deps, env: { ...app.deps.env, port: 0 } });
  cleanups.push(async () => {
    app.stop();
    await server.stop();
    await app[Symbol.asyncDispose]();
  });
  return { app, server };
}

async function openStream(
  server: Listening,
  { sessionId }: Session,
  path = "/api/events",
  { reads } = { reads: true },
): Promise<{ socket: Socket; head: string }> {
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${sessionId}\r\n\r\n`);
  const head = await new Promise<string>((resolve) => socket.once("data", (data) => resolve(data.toString())));
  if (!reads) socket.pause();
  return { socket, head };
}

async function countEvents(response: Response): Promise<{ events: number; gaps: number }> {
  let [events, gaps, rest] = [0, 0, ""];
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    const lines = (rest + Buffer.from(chunk).toString("latin1")).split("\n");
    rest = lines.pop() ?? "";
    // The stream opens with the place it starts from.
    for (const line of lines.filter((each) => each.startsWith("id: ") && each !== "id: 0"))
      if (Number(line.slice(4)) !== ++events) gaps++;
  }
  return { events, gaps };
}

/** Sends in chunks without a length; returns the status line, whether or not the server took it all. */
async function sendBody(server: Listening, bytes: number): Promise<string> {
  const socket = connect(server.port, "127.0.0.1").setMaxListeners(0);
  const answer = new Promise<string>((resolve) => {
    socket.once("data", (data) => resolve(data.toString().split("\r\n", 1)[0] ?? ""));
    socket.once("error", () => resolve("closed"));
  });
  socket.write(
    `POST /api/auth/anonymous/bootstrap HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  const part = `${(1_000_000).toString(16)}\r\n${" ".repeat(1_000_000)}\r\n`;
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += 1_000_000) {
    if (!socket.write(part))
      await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), answer, Bun.sleep(1_000)]);
  }
  const line = await Promise.race([answer, Bun.sleep(5_000).then(() => "nothing")]);
  socket.destroy();
  return line;
}
