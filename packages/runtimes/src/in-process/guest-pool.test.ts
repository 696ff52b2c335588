import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { GuestLost, type GuestLimits } from "@executor/core/ports/runtime";
import { transpileTask } from "../guest/transpile-task.ts";
import { readChildRssBytes } from "./child-meter.ts";
import { GuestPool, type GuestPoolOptions } from "./guest-pool.ts";
import type { PoolSession } from "./pool-session.ts";

const limits: GuestLimits = {
  cpuMs: 5_000,
  memoryBytes: 64_000_000,
  outputBytes: 10_000,
  calls: 1_000,
  callInputBytes: 12_000_000,
  resultBytes: 12_000_000,
};
const stuck = "new Array(2 ** 31).join('ab');";
let pool: GuestPool | undefined;

function startPool(options: GuestPoolOptions = {}): GuestPool {
  pool = new GuestPool(options);
  return pool;
}

async function openCode(in_: GuestPool, code: string, changed: Partial<GuestLimits> = {}): Promise<PoolSession> {
  const task = transpileTask(code);
  if (!task.ok) throw new Error(task.message);
  return in_.openSession({
    taskId: "task_pool",
    fence: { taskId: "task_pool", workspaceId: "ws", workerId: "worker", attempt: 1 },
    script: task.script,
    seed: "0".repeat(32),
    startMs: 0,
    limits: { ...limits, ...changed },
  });
}

const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
/** Every state it takes from now on. */
function watchStates(child: object): unknown[] {
  const states: unknown[] = [];
  let current: unknown = Reflect.get(child, "state");
  Object.defineProperty(child, "state", {
    get: () => current,
    set: (next: unknown) => {
      current = next;
      states.push(next);
    },
  });
  return states;
}
async function until(what: () => boolean, ms = 5_000): Promise<void> {
  for (const end = performance.now() + ms; !what();) {
    if (performance.now() > end) throw new Error("it did not happen in time");
    await Bun.sleep(5);
  }
}
const lostOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "answered",
    (error) => (error instanceof GuestLost ? "lost" : error),
  );

afterEach(async () => {
  await pool?.close();
});

describe("the pool", () => {
  test("a hog is exiled: waiting neighbours are lost at once, new sessions go elsewhere, an idle one only when it is advanced", async () => {
    const pool = startPool();
    const idle = await openCode(pool, "await tools.a(); return 1;");
    await idle.advance([]);
    const hog = await openCode(pool, stuck, { cpuMs: 400 });
    const neighbour = await openCode(pool, "await tools.a(); return 1;");
    await neighbour.advance([]);
    const [first] = pool.children;
    const hogTurn = hog.advance([]);
    const unborn = await openCode(pool, "return 5;");
    const unbornTurn = unborn.advance([]);
    expect(await lostOf(neighbour.advance([{ kind: "result", id: 0, json: "1", atMs: 1 }]))).toBe("lost");
    expect(first?.state).toBe("exiled");
    expect((await unbornTurn).end).toEqual({ kind: "returned", resultJson: "5" });
    const fresh = await openCode(pool, "return 2;");
    expect((await fresh.advance([])).end).toEqual({ kind: "returned", resultJson: "2" });
    expect(await lostOf(idle.advance([{ kind: "result", id: 0, json: "1", atMs: 1 }]))).toBe("lost");
    expect((await hogTurn).end).toMatchObject({ kind: "stopped", code: "task.cpu_limit" });
    await until(() => first !== undefined && !isAlive(first.pid));
  });

  test("a hog that ends soon gives its child back, and idle neighbours never notice", async () => {
    const pool = startPool();
    const idle = await openCode(pool, "return await tools.a();");
    await idle.advance([]);
    const hog = await openCode(pool, "while (true);", { cpuMs: 120 });
    const [child] = pool.children;
    // The exile is short: a look from outside would miss it on a busy machine.
    const states = watchStates(child as object);
    expect((await hog.advance([])).end).toMatchObject({ code: "task.cpu_limit" });
    expect(child?.state).toBe("regular");
    expect(states).toContain("exiled");
    expect((await idle.advance([{ kind: "result", id: 0, json: "7", atMs: 1 }])).end).toEqual({
      kind: "returned",
      resultJson: "7",
    });
  });

  test("a child that is killed loses its sessions and is replaced", async () => {
    const pool = startPool();
    const [one, two] = [await openCode(pool, "await tools.a();"), await openCode(pool, stuck)];
    await one.advance([]);
    const running = lostOf(two.advance([]));
    await Bun.sleep(10);
    process.kill(pool.children[0]?.pid ?? 0, "SIGKILL");
    expect(await running).toBe("lost");
    expect(await lostOf(one.advance([{ kind: "result", id: 0, json: "1", atMs: 1 }]))).toBe("lost");
    const again = await openCode(pool, "return 3;");
    expect((await again.advance([])).end).toEqual({ kind: "returned", resultJson: "3" });
  });

  test("closing a session that is stuck ends its child soon", async () => {
    const pool = startPool();
    const session = await openCode(pool, stuck);
    await until(() => pool.children[0]?.state === "regular");
    const pid = pool.children[0]?.pid ?? 0;
    const running = lostOf(session.advance([]));
    await Bun.sleep(20);
    await session.close();
    expect(await running).toBe("lost");
    await until(() => !isAlive(pid), 1_000);
  });

  test("closing a session whose turn is short leaves the child and its neighbours alone", async () => {
    const pool = startPool();
    const [one, two] = [
      await openCode(pool, "for (let i = 0; i < 2e4; i++); await tools.a();"),
      await openCode(pool, "return 1;"),
    ];
    await until(() => pool.children[0]?.state === "regular");
    const [child] = pool.children;
    const running = lostOf(one.advance([]));
    await one.close();
    expect(await running).toBe("lost");
    expect((await two.advance([])).end).toEqual({ kind: "returned", resultJson: "1" });
    expect([pool.children[0], pool.children[0]?.state]).toEqual([child, "regular"]);
  });

  test("over the largest number of children a new guest waits", async () => {
    const pool = startPool({ maxChildren: 1 });
    const hog = await openCode(pool, stuck, { cpuMs: 300 });
    const turn = hog.advance([]);
    await until(() => pool.children[0]?.state === "exiled");
    const waiting = (await openCode(pool, "return 1;")).advance([]);
    expect(await Promise.race([waiting.then(() => "ran"), Bun.sleep(50).then(() => "waits")])).toBe("waits");
    await turn;
    expect((await waiting).end).toEqual({ kind: "returned", resultJson: "1" });
    expect(pool.children.length).toBeLessThanOrEqual(1);
  });

  test("no child outlives its parent, even one that is stuck inside the engine", async () => {
    const script = `
      import { GuestPool } from ${JSON.stringify(`${import.meta.dir}/guest-pool.ts`)};
      const pool = new GuestPool({});
      const session = await pool.openSession({ taskId: "t", script: "(async () => { new Array(2 ** 31).join('ab'); });", seed: "0".repeat(32), startMs: 0, limits: ${JSON.stringify({ ...limits, cpuMs: 600_000 })} });
      void session.advance([]).catch(() => {});
      setTimeout(() => console.log(pool.children.map((child) => child.pid).join(" ")), 300);
      setInterval(() => {}, 1000);`;
    const parent = Bun.spawn({
      cmd: [process.execPath, "-e", script],
      stdout: "pipe",
      stderr: "inherit",
      stdin: "ignore",
    });
    const reader = parent.stdout.getReader();
    const pids = new TextDecoder()
      .decode((await reader.read()).value)
      .trim()
      .split(" ")
      .map(Number);
    expect(pids.length).toBeGreaterThan(0);
    expect(pids.every(isAlive)).toBe(true);
    parent.kill("SIGKILL");
    await until(() => !pids.some(isAlive), 2_000);
  });

  test("memory of guests comes back", async () => {
    const pool = startPool();
    const pid = pool.children[0]?.pid ?? 0;
    await (await openCode(pool, "return 1;")).advance([]);
    const before = readChildRssBytes(pid) ?? 0;
    for (let round = 0; round < 6; round += 1) {
      const session = await openCode(
        pool,
        "const a = new Uint8Array(30e6).fill(1); await tools.keep(); return a.length;",
      );
      await session.advance([]);
      await session.close();
    }
    await until(() => (readChildRssBytes(pid) ?? 0) < before + 40_000_000);
  });

  test("a large backlog in both directions arrives whole", async () => {
    const pool = startPool();
    const sessions = await Promise.all(
      Array.from({ length: 3 }, () =>
        openCode(pool, "const a = await tools.big({ t: 'ü'.repeat(3e6) }); return a.length;"),
      ),
    );
    const turns = [];
    for (const session of sessions) turns.push(await session.advance([]));
    expect(turns.map((turn) => turn.calls[0]?.inputJson.length)).toEqual([3_000_008, 3_000_008, 3_000_008]);
    const ends = [];
    for (const session of sessions)
      ends.push(
        (await session.advance([{ kind: "result", id: 0, json: JSON.stringify("y".repeat(10_000_000)), atMs: 1 }])).end,
      );
    expect(ends).toEqual(Array.from({ length: 3 }, () => ({ kind: "returned" as const, resultJson: "10000000" })));
  });

  test("the environment of a child holds nothing of ours", async () => {
    process.env.EXECUTOR_TEST_SECRET = "do not leak";
    const pool = startPool();
    await (await openCode(pool, "return 1;")).advance([]);
    const env = readFileSync(`/proc/${pool.children[0]?.pid}/environ`, "utf8");
    delete process.env.EXECUTOR_TEST_SECRET;
    expect(env).not.toContain("do not leak");
    expect(
      env
        .split("\0")
        .filter(Boolean)
        .map((pair) => pair.split("=")[0])
        .sort(),
    ).toEqual([
      "BUN_JSC_maxNumWasmFastMemories",
      "EXECUTOR_GUEST_CHILD",
      "EXECUTOR_GUEST_PARENT",
      "EXECUTOR_GUEST_SOCKET",
      "EXECUTOR_GUEST_TOKEN",
      "TZ",
    ]);
  });

  test("a stranger on the socket gets nowhere", async () => {
    const pool = startPool();
    await (await openCode(pool, "return 1;")).advance([]);
    const socketPath =
      /EXECUTOR_GUEST_SOCKET=([^\0]+)/.exec(readFileSync(`/proc/${pool.children[0]?.pid}/environ`, "utf8"))?.[1] ?? "";
    const { promise, resolve } = Promise.withResolvers<string>();
    const head = Buffer.from(JSON.stringify({ t: "hello", token: "guess", pid: 1, totalMs: 0 }));
    const frame = Buffer.concat([Buffer.from(new Uint32Array([head.length + 4, head.length]).buffer), head]);
    await Bun.connect({
      unix: socketPath,
      socket: { open: (socket) => void socket.write(frame), data() {}, close: () => resolve("closed") },
    });
    expect(await promise).toBe("closed");
  });
});
