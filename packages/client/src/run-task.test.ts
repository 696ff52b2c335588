import { describe, expect, test } from "bun:test";
import type { TaskEvent } from "@executor/contracts/event";
import type { Task } from "@executor/contracts/task";
import { createHttp } from "./http.ts";
import { type Asked, inTurn, json, problem, startLoopback } from "./testing/loopback.ts";
import { sampleEvent, sampleInteraction, sampleTask, sseOf } from "./testing/samples.ts";
import { createTasks } from "./tasks.ts";
import type { Timing } from "./timing.ts";

const fast: Partial<Timing> = { backoffMinMs: 5, backoffMaxMs: 20, pollMs: 20, longPollMs: 100, slowPollMs: 5_000 };
const connect = (url: string, timing = fast) =>
  createTasks({ http: createHttp({ baseUrl: url, token: "t", timing }), workspaceId: async () => "ws_1" });
const caught = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

const completed = (result: unknown) => sampleTask({ status: "completed", result });
const running = sampleTask({ status: "running" });
const waitingFor = (...ids: string[]) => sampleTask({ status: "waiting", pending: ids.map(sampleInteraction) });
const names = (asked: Asked[]) => asked.map(({ method, path }) => `${method} ${path}`);
const stream = (...events: TaskEvent[]) =>
  new Response(events.map((event) => sseOf(event)).join(""), { headers: { "content-type": "text/event-stream" } });

/** A stream that stays open and to which events can be added. */
function openStream() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (started) => {
      controller = started;
    },
  });
  return {
    respond: () => new Response(body, { headers: { "content-type": "text/event-stream" } }),
    push: (event: TaskEvent) => controller?.enqueue(new TextEncoder().encode(sseOf(event))),
  };
}

describe("a quick task", () => {
  test("takes one round trip and gives its result", async () => {
    await using server = startLoopback(() => json(completed({ answer: 42 }), 201));
    expect(await connect(server.url).run<{ answer: number }>("return { answer: 42 }")).toEqual({ answer: 42 });
    expect(names(server.asked)).toEqual(["POST /api/tasks?wait=100"]);
  });

  test("without a result gives undefined", async () => {
    await using server = startLoopback(() => json(sampleTask({ status: "completed" }), 201));
    expect(await connect(server.url).run("1")).toBeUndefined();
  });

  test("is not made twice when the answer is lost", async () => {
    await using server = startLoopback(
      inTurn(
        () => problem(503, "store.unavailable"),
        () => json(completed(1)),
      ),
    );
    expect(await connect(server.url).run({ code: "return 1", timeoutMs: 1_000 })).toBe(1);
    const [one, two] = server.asked.map(({ body }) => body);
    expect(one).toEqual(two);
    expect(one).toMatchObject({ idempotencyKey: expect.stringMatching(/^sdk_/), timeoutMs: 1_000 });
  });

  test("that the server only announces is read", async () => {
    await using server = startLoopback(({ method }) =>
      json(method === "POST" ? { taskId: "task_1", status: "completed" } : completed(1)),
    );
    expect(await connect(server.url).run("return 1")).toBe(1);
  });
});

describe("an end that is no result throws", () => {
  const ends: [status: Task["status"], error: Task["error"], code: string, detail: string][] = [
    ["failed", { code: "task.failed", message: "boom", line: 3 }, "task.failed", "boom"],
    ["timed_out", { code: "task.timed_out", message: "slow" }, "task.timed_out", "slow"],
    ["denied", { code: "approval.denied", message: "Ann said no", toolPath: "a.b" }, "approval.denied", "Ann said no"],
    ["cancelled", undefined, "task.cancelled", "the task ended as cancelled"],
  ];
  test.each(ends)("%s", async (status, error, code, detail) => {
    const task = sampleTask({ status, ...(error && { error }) });
    await using server = startLoopback(() => json(task, 201));
    expect(await caught(connect(server.url).run("x"))).toMatchObject({
      name: "ExecutorError",
      code,
      detail,
      task,
      taskId: "task_1",
      status: undefined,
    });
  });

  test("a refused create throws the refusal", async () => {
    await using server = startLoopback(() => problem(422, "task.type_error"));
    expect(await caught(connect(server.url).run("x"))).toMatchObject({
      code: "task.type_error",
      status: 422,
      task: undefined,
    });
  });
});

describe("a longer task", () => {
  test("is awaited by long polls", async () => {
    const read = inTurn(
      () => json(running),
      () => json(completed(7)),
    );
    await using server = startLoopback(({ method }) => (method === "POST" ? json(running, 201) : read()));
    expect(await connect(server.url).run("x")).toBe(7);
    expect(names(server.asked)).toEqual([
      "POST /api/tasks?wait=100",
      "GET /api/tasks/task_1?wait=100",
      "GET /api/tasks/task_1?wait=100",
    ]);
  });

  test("is not asked about in a tight loop by a server that does not wait", async () => {
    await using server = startLoopback(({ method }) => json(running, method === "POST" ? 201 : 200));
    await caught(connect(server.url).run("x", { timeoutMs: 200 }));
    expect(server.asked.length).toBeLessThan(14);
  });

  test("survives a restart of the server, however long it takes", async () => {
    const before = startLoopback(() => json(running, 201));
    const { port } = new URL(before.url);
    const result = connect(before.url, { ...fast, retries: 0 }).run("x");
    await Bun.sleep(60);
    await before.stop();
    await Bun.sleep(150);
    await using _after = startLoopback(() => json(completed("there again")), Number(port));
    expect(await result).toBe("there again");
  });

  test("that vanished is an error", async () => {
    await using server = startLoopback(({ method }) =>
      method === "POST" ? json(running, 201) : problem(404, "task.not_found"),
    );
    expect(await caught(connect(server.url).run("x"))).toMatchObject({ code: "task.not_found" });
  });
});

describe("a task that waits for people", () => {
  test("is reported once for what is new, and awaited through the event stream", async () => {
    let task = waitingFor("approval_a", "approval_b");
    const events = openStream();
    await using server = startLoopback(({ method, path }) => {
      if (path.endsWith("/events")) return events.respond();
      return json(task, method === "POST" ? 201 : 200);
    });
    const reports: string[][] = [];
    const onWaiting = ({ pending }: Task) => void reports.push(pending.map(({ interactionId }) => interactionId));
    const result = connect(server.url).run("x", { onWaiting });

    const step = async (next: Task, event: TaskEvent) => {
      await Bun.sleep(40);
      task = next;
      events.push(event);
    };
    await step(waitingFor("approval_b"), sampleEvent(5, "approval.resolved"));
    await step(waitingFor("approval_b", "approval_c"), sampleEvent(6, "task.waiting"));
    await step(running, sampleEvent(7, "task.resumed"));
    await step(completed("done"), sampleEvent(8, "task.completed"));

    expect(await result).toBe("done");
    expect(reports).toEqual([
      ["approval_a", "approval_b"],
      ["approval_b", "approval_c"],
    ]);
    expect(names(server.asked).filter((name) => name.startsWith("GET /api/tasks/task_1?"))).toEqual([]);
  });

  test("is awaited by polls where streams do not work", async () => {
    const read = inTurn(
      () => json(waitingFor("approval_a")),
      () => json(completed(1)),
    );
    await using server = startLoopback(({ method, path }) => {
      if (path.endsWith("/events")) return new Response("<proxy>", { headers: { "content-type": "text/html" } });
      return method === "POST" ? json(waitingFor("approval_a"), 201) : read();
    });
    expect(await connect(server.url).run("x")).toBe(1);
  });

  test("an error of the callback ends the wait and comes back as it is", async () => {
    await using server = startLoopback(({ path }) =>
      path.endsWith("/events") ? openStream().respond() : json(waitingFor("approval_a")),
    );
    const own = new Error("my own");
    const throwing = () => {
      throw own;
    };
    expect(await caught(connect(server.url).run("x", { onWaiting: throwing }))).toBe(own);
    expect(await caught(connect(server.url).run("x", { onWaiting: () => Promise.reject(own) }))).toBe(own);
  });
});

describe("onEvent", () => {
  const all = [
    sampleEvent(1, "task.created"),
    sampleEvent(2, "task.stdout", { text: "hi" }),
    sampleEvent(3, "task.completed"),
  ];

  test("sees every event in order before the result is given, and the create does not wait", async () => {
    await using server = startLoopback(({ method, path }) => {
      if (path.endsWith("/events")) return stream(...all);
      return method === "POST" ? json({ taskId: "task_1", status: "queued" }, 201) : json(completed(1));
    });
    const seen: number[] = [];
    const onEvent = async ({ sequence }: TaskEvent) => {
      await Bun.sleep(10);
      seen.push(sequence);
    };
    expect(await connect(server.url).run("x", { onEvent })).toBe(1);
    expect(seen).toEqual([1, 2, 3]);
    expect(names(server.asked)[0]).toBe("POST /api/tasks");
  });

  test("an error of it ends the wait and comes back as it is", async () => {
    await using server = startLoopback(({ path }) => (path.endsWith("/events") ? stream(...all) : json(running)));
    const own = new Error("my own");
    const onEvent = () => {
      throw own;
    };
    expect(await caught(connect(server.url).run("x", { onEvent }))).toBe(own);
  });
});

describe("leaving early", () => {
  const forever = ({ path }: Asked) =>
    path.endsWith("/cancel") ? json(sampleTask({ status: "cancelled" })) : json(running);

  test("an aborted signal stops the wait; the task goes on", async () => {
    await using server = startLoopback(forever);
    const controller = new AbortController();
    setTimeout(() => controller.abort("enough"), 60);
    const error = await caught(connect(server.url).run("x", { signal: controller.signal }));
    expect(error).toMatchObject({
      code: "client.aborted",
      cause: "enough",
      taskId: "task_1",
      task: { status: "running" },
    });
    expect(names(server.asked).filter((name) => name.includes("cancel"))).toEqual([]);
  });

  test("a signal that is aborted already makes no task", async () => {
    await using server = startLoopback(forever);
    expect(await caught(connect(server.url).run("x", { signal: AbortSignal.abort() }))).toMatchObject({
      code: "client.aborted",
    });
    expect(server.asked).toEqual([]);
  });

  test("an aborted signal cancels the task with cancelOnAbort", async () => {
    await using server = startLoopback(forever);
    const error = await caught(connect(server.url).run("x", { signal: AbortSignal.timeout(60), cancelOnAbort: true }));
    expect(error).toMatchObject({ code: "client.aborted", data: { cancelled: true }, task: { status: "cancelled" } });
    expect(names(server.asked).at(-1)).toBe("POST /api/tasks/task_1/cancel");
  });

  test("a task whose create was under way is cancelled too", async () => {
    await using server = startLoopback(async (asked) => {
      if (asked.path === "/api/tasks") await Bun.sleep(80);
      return forever(asked);
    });
    const error = await caught(connect(server.url).run("x", { signal: AbortSignal.timeout(20), cancelOnAbort: true }));
    expect(error).toMatchObject({ code: "client.aborted", data: { cancelled: true } });
    expect(names(server.asked)).toEqual(["POST /api/tasks", "POST /api/tasks/task_1/cancel"]);
  });

  test("a cancel that is refused is told", async () => {
    await using server = startLoopback(({ path }) =>
      path.endsWith("/cancel") ? problem(409, "task.already_ended") : json(running),
    );
    const error = await caught(connect(server.url).run("x", { timeoutMs: 40, cancelOnAbort: true }));
    expect(error).toMatchObject({ code: "client.timed_out", data: { cancelled: false }, taskId: "task_1" });
  });

  test("timeoutMs is the time we wait, and the error knows the task", async () => {
    await using server = startLoopback(async (asked) => {
      await Bun.sleep(Number(new URL(asked.path, "http://x").searchParams.get("wait")));
      return forever(asked);
    });
    const startedAt = performance.now();
    const error = await caught(connect(server.url).run("x", { timeoutMs: 120 }));
    expect(error).toMatchObject({ code: "client.timed_out", taskId: "task_1", retryable: false });
    expect(performance.now() - startedAt).toBeLessThan(400);
    expect(names(server.asked)[0]).toBe("POST /api/tasks?wait=60");
  });
});

test("wait stays with a task that exists and gives it, however it ended", async () => {
  const failed = sampleTask({ status: "failed", error: { code: "task.failed", message: "boom" } });
  await using server = startLoopback(
    inTurn(
      () => json(running),
      () => json(failed),
    ),
  );
  expect(await connect(server.url).wait("task_1")).toEqual(failed);
});
