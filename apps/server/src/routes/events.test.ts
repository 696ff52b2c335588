import { expect, test } from "bun:test";
import { TaskEvent } from "@executor/contracts/event";
import type { Session } from "@executor/contracts/identity";
import type { CreatedTask } from "@executor/contracts/task";
import { openTestApp, type TestApp } from "../testing/open-test-app.ts";
import { createStandInWorker } from "../testing/stand-in-worker.ts";
import { MAX_STREAMS } from "./events.ts";

interface Seen {
  id: number;
  event: TaskEvent;
}

test("a task's stream replays, goes on live, and ends after the last event", async () => {
  await using app = await openTestApp();
  const { me, taskId, worker } = await openTask(app);
  const stream = await open(app, me, `/api/tasks/${taskId}/events`);
  expect(stream.headers.get("content-type")).toBe("text/event-stream");
  const seen = readAll(stream);
  await Bun.sleep(10);
  await worker.complete(taskId, 1);
  const events = await seen;
  expect(events.map(({ event }) => event.type)).toEqual([
    "task.created",
    "task.queued",
    "task.running",
    "task.completed",
  ]);
  expect(events.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
  for (const { event } of events) expect(TaskEvent.parse(event)).toEqual(event);
});

test("Last-Event-ID resumes anywhere without gap or duplicate, and an ended task's stream ends at once", async () => {
  await using app = await openTestApp();
  const { me, taskId, worker } = await openTask(app);
  await worker.complete(taskId, 1);
  for (let last = 0; last <= 5; last++) {
    const events = await readAll(await open(app, me, `/api/tasks/${taskId}/events`, { "last-event-id": String(last) }));
    expect(events.map(({ id }) => id)).toEqual([1, 2, 3, 4].filter((id) => id > last));
  }
  expect((await open(app, me, `/api/tasks/${taskId}/events`, { "last-event-id": "x" })).status).toBe(400);
});

test("a workspace's stream starts now, or where Last-Event-ID says, and tells of all its tasks", async () => {
  await using app = await openTestApp();
  const { me, taskId, worker } = await openTask(app);
  const stranger = await openTask(app);
  const live = await open(app, me, "/api/events");
  await worker.complete(taskId, 1);
  await stranger.worker.complete(stranger.taskId, 1);
  const { taskId: second } = await submit(app, me);
  const seen = await readSome(live, 4);
  expect(seen.map(({ id, event }) => [id, event.type, event.taskId])).toEqual([
    [3, "task.running", taskId],
    [4, "task.completed", taskId],
    [5, "task.created", second],
    [6, "task.queued", second],
  ]);
  const resumed = await readSome(await open(app, me, "/api/events", { "last-event-id": "1" }), 5);
  expect(resumed.map(({ id }) => id)).toEqual([2, 3, 4, 5, 6]);
});

test("revoking a key closes its streams at once, and logging out closes those of a session", async () => {
  await using app = await openTestApp();
  const me = await app.session();
  const key = await app.key(me, "agent");
  const streams = [
    await open(app, { ...me, sessionId: key.token }, "/api/events"),
    await open(app, me, "/api/events"),
  ] as const;
  const texts = streams.map((stream) => stream.text());
  await Bun.sleep(20);
  const startedMs = performance.now();
  await app.json("DELETE", `/api/keys/${key.keyId}?workspaceId=${me.workspaceId}`, 204, { token: me.sessionId });
  expect(await texts[0]).toMatch(/^: open\nid: \d+\n\n$/);
  await app.json("POST", "/api/auth/logout", 204, { token: me.sessionId });
  expect(await texts[1]).toMatch(/^: open\nid: \d+\n\n$/);
  expect(performance.now() - startedMs).toBeLessThan(500);
});

test("stopping the server ends streams", async () => {
  await using app = await openTestApp();
  const me = await app.session();
  const text = (await open(app, me, "/api/events")).text();
  await Bun.sleep(10);
  app.stop();
  expect(await text).toMatch(/^: open\nid: \d+\n\n$/);
});

test("one bearer has a bounded number of streams; closing one makes room", async () => {
  await using app = await openTestApp();
  const me = await app.session();
  const streams = [];
  for (let count = 0; count < MAX_STREAMS; count++) streams.push(await open(app, me, "/api/events"));
  expect((await open(app, me, "/api/events")).status).toBe(429);
  expect((await app.call("HEAD", "/api/events", { token: me.sessionId })).status).toBe(200);
  await streams[0]?.body?.cancel();
  expect((await open(app, me, "/api/events")).status).toBe(200);
});

test("a long log streams completely, in order, and is read only as fast as the client takes it", async () => {
  await using app = await openTestApp();
  const { me, taskId, worker } = await openTask(app);
  const fence = await worker.claim(taskId);
  const LINES = 20_000;
  for (let start = 0; start < LINES; start += 2_000)
    await worker.print(
      fence,
      Array.from({ length: 2_000 }, (_, index) => `${start + index} ${"x".repeat(200)}`),
    );
  let pages = 0;
  const { readTaskEvents } = app.store;
  app.store.readTaskEvents = (args) => (pages++, readTaskEvents(args));
  const stream = await open(app, me, `/api/tasks/${taskId}/events`);
  const reader = stream.body!.getReader();
  await reader.read();
  await reader.read();
  await Bun.sleep(100);
  // Nobody reads: nothing is fetched ahead.
  expect(pages).toBeLessThanOrEqual(1);
  reader.releaseLock();
  const seen = await readSome(stream, LINES - 1_000);
  const ids = seen.map(({ id }) => id);
  expect(ids.every((id, index) => index === 0 || id === (ids[index - 1] ?? 0) + 1)).toBe(true);
  expect(pages).toBeGreaterThan(30);
});

async function openTask(app: TestApp) {
  const me = await app.session();
  return { me, worker: createStandInWorker(app.store), taskId: (await submit(app, me)).taskId };
}

const submit = (app: TestApp, { sessionId, workspaceId }: Session) =>
  app.json<CreatedTask>("POST", "/api/tasks", 201, { token: sessionId, body: { code: "return 1", workspaceId } });
const open = (app: TestApp, { sessionId }: Session, path: string, headers: Record<string, string> = {}) =>
  app.call("GET", path, { token: sessionId, headers });
const readAll = (stream: Response): Promise<Seen[]> => readSome(stream, Number.POSITIVE_INFINITY);

/** Reads until so many events were seen or the stream ends. */
async function readSome(stream: Response, count: number): Promise<Seen[]> {
  const seen: Seen[] = [];
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream.body as ReadableStream<Uint8Array>) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks.filter((text) => !text.startsWith(":"))) {
      const [, id, type, data] = /^id: (\d+)\nevent: (\S+)\ndata: (.*)$/.exec(block) ?? [];
      const event = JSON.parse(data ?? "null") as TaskEvent;
      expect(event.type as string).toBe(type ?? "");
      seen.push({ id: Number(id), event });
    }
    if (seen.length >= count) break;
  }
  return seen;
}
