import { describe, expect, test } from "bun:test";
import type { TaskEvent } from "@executor/contracts/event";
import { createHttp } from "./http.ts";
import { sampleEvent, sampleTask, sseOf } from "./testing/samples.ts";
import { type RawConnection, startRawServer } from "./testing/raw-server.ts";
import { createTasks } from "./tasks.ts";
import type { EventsOptions } from "./stream-events.ts";
import type { Timing } from "./timing.ts";

const fast: Partial<Timing> = { backoffMinMs: 5, backoffMaxMs: 20, retries: 0 };

const first = sampleEvent(1, "task.created");
const output = sampleEvent(2, "task.stdout", { text: "grüße 🦊" });
const last = sampleEvent(3, "task.completed");

async function readAll(url: string, options: EventsOptions = {}, timing: Partial<Timing> = fast): Promise<TaskEvent[]> {
  const tasks = createTasks({
    http: createHttp({ baseUrl: url, token: "t", timing }),
    workspaceId: async () => "ws_1",
  });
  return Array.fromAsync(tasks.events("task_1", options));
}

/** One script a connection; those after the last script repeat it. */
const scripted =
  (...scripts: ((connection: RawConnection) => Promise<void> | void)[]) =>
  async (connection: RawConnection) =>
    scripts[Math.min(connection.ordinal, scripts.length) - 1]?.(connection);

const respondJson = (connection: RawConnection, status: string, type: string, value: unknown, headers = "") => {
  const body = JSON.stringify(value);
  connection.answer(
    `HTTP/1.1 ${status}\r\ncontent-type: ${type}\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
};
const refuse =
  (status: string, code: string, headers = "") =>
  (connection: RawConnection) =>
    respondJson(connection, status, "application/problem+json", { code, detail: "no", status: 0 }, headers);

const sendAll =
  (...events: TaskEvent[]) =>
  async (connection: RawConnection) => {
    await connection.startStream();
    for (const event of events) await connection.send(sseOf(event));
    connection.end();
  };

describe("one connection", () => {
  test("gives the events and ends after the last, though the server keeps the connection open", async () => {
    await using server = startRawServer(async (connection) => {
      await connection.startStream();
      await connection.send(`: hello\n\n${sseOf(first)}${sseOf(output)}`);
      await connection.send(sseOf(last));
    });
    expect(await readAll(server.url)).toEqual([first, output, last]);
    expect(server.connections.map(({ path, lastEventId }) => [path, lastEventId])).toEqual([
      ["/api/tasks/task_1/events", undefined],
    ]);
  });

  test("does not care where chunks are cut, be it within a character", async () => {
    const all = new TextEncoder().encode(
      [first, output, last]
        .map((event) => sseOf(event))
        .join("")
        .replaceAll("\n", "\r\n"),
    );
    await using server = startRawServer(async (connection) => {
      await connection.startStream();
      for (let at = 0; at < all.length; at += 7) await connection.send(all.slice(at, at + 7));
    });
    expect(await readAll(server.url)).toEqual([first, output, last]);
  });

  test("leaves what is not an event alone", async () => {
    await using server = startRawServer(async (connection) => {
      await connection.startStream();
      await connection.send(`event: ping\ndata: {}\n\ndata: 3\n\n${sseOf(last)}`);
    });
    expect(await readAll(server.url)).toEqual([last]);
  });
});

describe("a connection that breaks", () => {
  test("is resumed behind the last whole event, without gap or duplicate", async () => {
    await using server = startRawServer(
      scripted(
        async (connection) => {
          await connection.startStream();
          await connection.send(sseOf(first));
          await connection.send(sseOf(output).slice(0, 30));
          connection.cut();
        },
        // A server that repeats what it was told is known already.
        sendAll(first, output, last),
      ),
    );
    expect(await readAll(server.url)).toEqual([first, output, last]);
    expect(server.connections.map(({ lastEventId }) => lastEventId)).toEqual([undefined, "1"]);
  });

  test("is resumed when the server ended it in good order (a restart)", async () => {
    await using server = startRawServer(scripted(sendAll(first), sendAll(output), sendAll(last)));
    expect(await readAll(server.url)).toEqual([first, output, last]);
    expect(server.connections.map(({ lastEventId }) => lastEventId)).toEqual([undefined, "1", "2"]);
  });

  test("is resumed when it falls silent", async () => {
    const quiet = async (connection: RawConnection) => {
      await connection.startStream();
      await connection.send(sseOf(first));
    };
    await using server = startRawServer(scripted(quiet, sendAll(last)));
    expect(await readAll(server.url, {}, { ...fast, streamIdleMs: 60 })).toEqual([first, last]);
  });

  test("is not taken for silent while comments come", async () => {
    await using server = startRawServer(async (connection) => {
      await connection.startStream();
      for (let beat = 0; beat < 6; beat++) {
        await connection.send(":\n\n");
        await Bun.sleep(30);
      }
      await connection.send(sseOf(last));
    });
    expect(await readAll(server.url, {}, { ...fast, streamIdleMs: 150 })).toEqual([last]);
    expect(server.connections).toHaveLength(1);
  });

  test("is tried again through outages of every kind", async () => {
    await using server = startRawServer(
      scripted(
        (connection) => connection.cut(),
        refuse("503 Service Unavailable", "store.unavailable"),
        refuse("500 Internal Server Error", "internal.error"),
        (connection) =>
          connection.answer("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 4\r\nconnection: close\r\n\r\noops"),
        refuse("429 Too Many Requests", "request.rate_limited", "retry-after: 0\r\n"),
        sendAll(first, last),
      ),
    );
    expect(await readAll(server.url)).toEqual([first, last]);
  });
});

test("who watches the line is told when it stands and when it is lost", async () => {
  const told: boolean[] = [];
  await using server = startRawServer(
    scripted(refuse("503 Service Unavailable", "store.unavailable"), sendAll(first), sendAll(output, last)),
  );
  expect(await readAll(server.url, { onConnection: (isConnected) => told.push(isConnected) })).toEqual([
    first,
    output,
    last,
  ]);
  expect(told).toEqual([true, false, true]);
});

test("Retry-After is waited for", async () => {
  const times: number[] = [];
  const refuseOnce = refuse("429 Too Many Requests", "request.rate_limited", "retry-after: 1\r\n");
  const script = scripted(refuseOnce, sendAll(last));
  await using server = startRawServer((connection) => {
    times.push(performance.now());
    return script(connection);
  });
  expect(await readAll(server.url)).toEqual([last]);
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(950);
});

describe("gives up", () => {
  const refusals = [
    ["401 Unauthorized", "auth.invalid"],
    ["403 Forbidden", "auth.forbidden"],
    ["404 Not Found", "task.not_found"],
    ["400 Bad Request", "request.invalid"],
  ] as const;
  test.each(refusals)("on %s", async (status, code) => {
    await using server = startRawServer(refuse(status, code));
    await expect(readAll(server.url)).rejects.toMatchObject({
      name: "ExecutorError",
      code,
      status: Number(status.slice(0, 3)),
    });
    expect(server.connections).toHaveLength(1);
  });

  test("when the token is revoked in the middle", async () => {
    await using server = startRawServer(scripted(sendAll(first), refuse("401 Unauthorized", "auth.invalid")));
    await expect(readAll(server.url)).rejects.toMatchObject({ code: "auth.invalid" });
  });

  test("on an answer that is no stream", async () => {
    await using server = startRawServer((connection) =>
      Promise.resolve(respondJson(connection, "200 OK", "text/html", "<login>")),
    );
    await expect(readAll(server.url)).rejects.toMatchObject({ code: "client.bad_answer" });
  });

  test.each(["before", "during"])("when the signal is aborted %s the stream", async (when) => {
    await using server = startRawServer(async (connection) => {
      await connection.startStream();
      await connection.send(sseOf(first));
    });
    const controller = new AbortController();
    if (when === "before") controller.abort(new Error("enough"));
    else setTimeout(() => controller.abort(new Error("enough")), 50);
    const error: unknown = await readAll(server.url, { signal: controller.signal }).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "client.aborted", cause: { message: "enough" } });
  });

  test("when the signal is aborted while nobody is there", async () => {
    const server = startRawServer((connection) => Promise.resolve(connection.cut()));
    await using _ = server;
    const signal = AbortSignal.timeout(60);
    await expect(readAll(server.url, { signal })).rejects.toMatchObject({ code: "client.aborted" });
  });
});

describe("resuming behind the end", () => {
  const ended = (connection: RawConnection) =>
    connection.path.endsWith("/events")
      ? sendAll()(connection)
      : respondJson(connection, "200 OK", "application/json", sampleTask({ status: "completed" }));

  test("ends instead of asking for ever", async () => {
    await using server = startRawServer(async (connection) => ended(connection));
    expect(await readAll(server.url, { after: 3 })).toEqual([]);
    expect(server.connections.map(({ path, lastEventId }) => [path, lastEventId])).toEqual([
      ["/api/tasks/task_1/events", "3"],
      ["/api/tasks/task_1", undefined],
      ["/api/tasks/task_1/events", "3"],
    ]);
  });

  test("still gives an event that came between the hang-up and the question", async () => {
    await using server = startRawServer(async (connection) =>
      connection.ordinal === 3 ? sendAll(last)(connection) : ended(connection),
    );
    expect(await readAll(server.url, { after: 2 })).toEqual([last]);
  });

  test("ends when the server repeats the end", async () => {
    await using server = startRawServer(sendAll(first, output, last));
    expect(await readAll(server.url, { after: 3 })).toEqual([]);
    expect(server.connections).toHaveLength(1);
  });
});

test("a consumer that leaves early closes the connection", async () => {
  const closed = Promise.withResolvers<void>();
  await using server = startRawServer(async (connection) => {
    await connection.startStream();
    for (;;) {
      await connection.send(sseOf(first));
      if (!connection.isOpen()) return closed.resolve();
    }
  });
  const tasks = createTasks({
    http: createHttp({ baseUrl: server.url, timing: fast }),
    workspaceId: async () => "ws_1",
  });
  for await (const event of tasks.events("task_1")) {
    expect(event).toEqual(first);
    break;
  }
  await closed.promise;
});
