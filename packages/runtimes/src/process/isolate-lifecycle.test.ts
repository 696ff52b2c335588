/** Processes, tokens and directories from start to end: whatever happens, nothing is left behind. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { GuestLost, type GuestSession, type Turn } from "@executor/core/ports/runtime";
import { GuestBench } from "@executor/testkit/conformance/runtime/guest-bench";
import { describeHostileCode } from "@executor/testkit/conformance/runtime/hostile-code";
import { guestLimits, isolateEntry, isolateLimits } from "@executor/testkit/isolate/isolate-entry";
import { transpileTask } from "../guest/transpile-task.ts";
import { createProcessRuntime, type ProcessRuntime, type ProcessRuntimeOptions } from "./process-runtime.ts";
import { readGuestCpuMs } from "./process-meter.ts";

const fakeEntry = fileURLToPath(import.meta.resolve("@executor/testkit/isolate/fake-isolate-main"));
const holdMain = fileURLToPath(import.meta.resolve("@executor/testkit/isolate/hold-guests-main"));
const hasBubblewrap = Bun.which("bwrap") !== null;
const isRoot = process.getuid?.() === 0;
const hasSetpriv = Bun.which("setpriv") !== null;
if (!hasBubblewrap)
  console.warn("no bubblewrap on this machine: isolates are tested with the engine's permissions alone");

const opened: ProcessRuntime[] = [];
const logs: string[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((runtime) => runtime.close()));
});

function openRuntime(options: Partial<ProcessRuntimeOptions> = {}): ProcessRuntime {
  const runtime = createProcessRuntime({
    isolateEntry,
    ...isolateLimits,
    warm: 0,
    log: (line) => logs.push(line),
    ...options,
  });
  opened.push(runtime);
  return runtime;
}

async function openGuest(runtime: ProcessRuntime, code: string, limits = {}): Promise<GuestSession> {
  const task = transpileTask(code);
  if (!task.ok) throw new Error(task.message);
  const program = {
    taskId: "task_1",
    fence: { taskId: "task_1", workspaceId: "ws_1", workerId: "worker_1", attempt: 1 },
    script: task.script,
    seed: "0".repeat(32),
    startMs: 0,
    limits: { ...guestLimits, ...limits },
  };
  return await runtime.open(program);
}

async function runCode(runtime: ProcessRuntime, code: string, limits = {}): Promise<Turn> {
  const session = await openGuest(runtime, code, limits);
  try {
    return await session.advance([]);
  } finally {
    await session.close();
  }
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    // A process nobody has waited for yet is dead for our purposes.
    return !existsSync(`/proc/${pid}/stat`) || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
};

async function until(what: string, holds: () => boolean): Promise<void> {
  for (let at = 0; at < 500; at += 1) {
    if (holds()) return;
    await Bun.sleep(20);
  }
  throw new Error(`not within ten seconds: ${what}`);
}

const isEmpty = (runtime: ProcessRuntime): boolean =>
  runtime.processIds.length === 0 &&
  runtime.tokens.size === 0 &&
  readdirSync(runtime.directory ?? "").every((name) => ["isolate.js", "seccomp.bpf"].includes(name));

describe("lessons.md 18", () => {
  test.each(["return 1", "throw new Error('x')", "for (let i = 0; ; i++) tools.a({ i })", "for (;;) {}"])(
    "after %s the process is gone and its token dead, on success as on error",
    async (code) => {
      const runtime = openRuntime();
      const { end } = await runCode(runtime, code, { cpuMs: 200, calls: 5 });
      expect(end).toBeDefined();
      await until("nothing is left", () => isEmpty(runtime));
    },
  );

  test.each(["/nonexistent/engine", "/bin/false"])(
    "an engine that cannot start (%s) is told of at once, and crashes nothing",
    async (enginePath) => {
      const runtime = openRuntime({ enginePath, bubblewrap: false });
      const startedAt = performance.now();
      expect(await runtime.availability()).toMatchObject({
        available: false,
        reason: expect.stringContaining("does not start"),
      });
      expect(performance.now() - startedAt).toBeLessThan(5_000);
      expect(runtime.processIds).toEqual([]);
    },
  );

  test("tokens are in no log, also when a process is lost", async () => {
    const runtime = openRuntime();
    const session = await openGuest(runtime, "await tools.a(); for (;;) {}", { cpuMs: 60_000 });
    await session.advance([]);
    const turn = session.advance([{ kind: "result", id: 0, json: "1", atMs: 1 }]);
    await Bun.sleep(50);
    process.kill(runtime.processIds[0] ?? 0, "SIGKILL");
    expect(turn).rejects.toThrow(GuestLost);
    await turn.catch(() => undefined);
    expect(logs.join("\n")).toContain("isolate");
    expect(logs.join("\n")).not.toMatch(/[A-Za-z0-9_-]{43}/);
    await until("nothing is left", () => isEmpty(runtime));
  });

  test.each(["wrong token", "wrong call", "wrong state"])(
    "an isolate that sends a %s is ended; the host stays",
    async (words) => {
      const runtime = openRuntime({ isolateEntry: fakeEntry, allowUnconfined: true, bubblewrap: false });
      expect(runCode(runtime, `"${words}"`)).rejects.toThrow(GuestLost);
      await runCode(runtime, `"${words}"`).catch(() => undefined);
      await until("nothing is left", () => isEmpty(runtime));
    },
  );

  test("maxProcesses, warm and idleMs do what they say", async () => {
    const runtime = openRuntime({ maxProcesses: 3, warm: 2, idleMs: 1_500 });
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, runtime.processIds.length)), 5);
    const ends = await Promise.all(Array.from({ length: 12 }, (_, at) => runCode(runtime, `return ${at}`)));
    clearInterval(watch);
    expect(ends.map(({ end }) => (end?.kind === "returned" ? Number(end.resultJson) : end))).toEqual(
      Array.from({ length: 12 }, (_, at) => at),
    );
    expect(most).toBeLessThanOrEqual(3);
    await until("two are warm", () => runtime.processIds.length === 2);
    await until("the warm ones went", () => isEmpty(runtime));
    expect((await runCode(runtime, "return 1")).end).toEqual({ kind: "returned", resultJson: "1" });
  }, 20_000);
});

describe("lessons.md 19", () => {
  test("a stop of a guest that waits is asked for and done; closing resolves when the process is gone", async () => {
    const runtime = openRuntime();
    const session = await openGuest(runtime, "await tools.a()");
    await session.advance([]);
    const [pid = 0] = runtime.processIds;
    await session.close();
    expect(isEmpty(runtime)).toBe(true);
    // The kernel closes a process's pipes a moment before it takes its number away.
    await until("the process is gone", () => !isAlive(pid));
  });

  test("a stop that is not heard goes on to SIGTERM and SIGKILL: acknowledged is not done", async () => {
    const runtime = openRuntime();
    const session = await openGuest(runtime, "for (;;) {}", { cpuMs: 60_000 });
    const turn = session.advance([]);
    await until("it spins", () => (readGuestCpuMs(runtime.processIds[0] ?? 0) ?? 1_000) > 150);
    const [pid = 0] = runtime.processIds;
    const startedAt = performance.now();
    const closed = session.close();
    expect(turn).rejects.toThrow(GuestLost);
    await closed;
    await until("the process is gone", () => !isAlive(pid));
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    await until("nothing is left", () => isEmpty(runtime));
  });

  test("a stop of a guest that still waits for its process takes it out of the line", async () => {
    const runtime = openRuntime({ maxProcesses: 1 });
    const first = await openGuest(runtime, "await tools.a()");
    await first.advance([]);
    const second = await openGuest(runtime, "return 2");
    const turn = second.advance([]);
    await second.close();
    expect(turn).rejects.toThrow(GuestLost);
    await first.close();
    expect((await runCode(runtime, "return 3")).end).toEqual({ kind: "returned", resultJson: "3" });
  });

  test.each(hasBubblewrap ? ["1", "0"] : ["0"])(
    "no isolate outlives a host that is killed with -9, in any state (bubblewrap %s)",
    async (bubblewrap) => {
      const runDir = mkdtempSync(join(tmpdir(), "ex-hold-"));
      const host = Bun.spawn([process.execPath, holdMain, runDir, bubblewrap], { stdout: "pipe", stderr: "inherit" });
      const { value } = await host.stdout.getReader().read();
      const pids = JSON.parse(new TextDecoder().decode(value)) as number[];
      expect(pids).toHaveLength(3);
      expect(pids.every(isAlive)).toBe(true);
      host.kill("SIGKILL");
      await host.exited;
      await until("all isolates are gone", () => !pids.some(isAlive));
      // The sockets of the dead host go with its directory when the next one comes.
      expect(readdirSync(runDir)).toHaveLength(1);
      const next = openRuntime({ runDir });
      await runCode(next, "return 1");
      expect(readdirSync(runDir)).toEqual([next.directory?.split("/").at(-1) ?? ""]);
      await next.close();
      rmSync(runDir, { recursive: true });
    },
  );
});

describe("guests", () => {
  test("what was printed before an endless loop is not lost with the process", async () => {
    const { output, end } = await runCode(openRuntime(), "console.log('here'); console.error('there'); for (;;) {}", {
      cpuMs: 150,
    });
    expect(output.map(({ text }) => text)).toEqual(["here", "there"]);
    expect(end).toMatchObject({ kind: "stopped", code: "task.cpu_limit" });
  });

  test("no process serves two guests", async () => {
    const runtime = openRuntime({ warm: 1 });
    const pids = new Set<number>();
    for (let at = 0; at < 5; at += 1) {
      const session = await openGuest(runtime, "await tools.a()");
      await session.advance([]);
      for (const pid of runtime.processIds) pids.add(pid);
      await session.close();
    }
    expect(pids.size).toBeGreaterThanOrEqual(5);
  });

  test("a token that expired or is used up ends the run as lost, not as a hang", async () => {
    for (const tokens of [{ lifetimeMs: -1 }, { maxUses: 0 }]) {
      const runtime = openRuntime({ tokens });
      expect(runCode(runtime, "return await tools.a()")).rejects.toThrow(GuestLost);
      await runCode(runtime, "return 1").catch(() => undefined);
      await until("nothing is left", () => isEmpty(runtime));
    }
  });
});

describe("confinement", () => {
  test("what is active is told", async () => {
    expect(await openRuntime().availability()).toEqual({
      available: true,
      confinement: hasBubblewrap
        ? "engine permissions; bubblewrap, seccomp"
        : "engine permissions; no OS sandbox: bubblewrap is not installed",
    });
    expect(await openRuntime({ bubblewrap: false }).inspect?.()).toMatchObject({ available: true });
  });

  test("where nothing confines a guest the runtime is unavailable and says what to do, unless that was asked for", async () => {
    const fake = { isolateEntry: fakeEntry, bubblewrap: false };
    expect(await openRuntime(fake).availability()).toMatchObject({
      available: false,
      reason: expect.stringMatching(/grants net.*EXECUTOR_ISOLATE_UNSANDBOXED=1/),
    });
    expect(await openRuntime({ ...fake, allowUnconfined: true }).availability()).toMatchObject({ available: true });
  });

  test.if(hasBubblewrap)("bubblewrap: own network, processes and mounts, nothing of the disk to write to", async () => {
    const runtime = openRuntime({ bubblewrap: true });
    const session = await openGuest(runtime, "await tools.a()");
    await session.advance([]);
    const [pid = 0] = runtime.processIds;
    for (const kind of ["net", "pid", "mnt", "ipc"])
      expect(readlinkSync(`/proc/${pid}/ns/${kind}`)).not.toBe(readlinkSync(`/proc/${process.pid}/ns/${kind}`));
    expect(existsSync(`/proc/${pid}/root/etc/passwd`)).toBe(false);
    expect(readFileSync(`/proc/${pid}/mounts`, "utf8")).toMatch(/ \/ \S+ ro,/);
    expect(readFileSync(`/proc/${pid}/status`, "utf8")).toMatch(/CapEff:\s+0+\n/);
    expect(readFileSync(`/proc/${pid}/status`, "utf8")).toMatch(/\nSeccomp:\s+2\n/);
    await session.close();
  });

  test.each(["nobody-such-user", "Root; id", "root"])(
    "user %s is refused, and never replaced by another",
    async (user) => {
      const state = await openRuntime({ user }).availability();
      expect(state).toMatchObject({ available: false, reason: expect.stringContaining("EXECUTOR_ISOLATE_USER") });
    },
  );

  test(`another Unix user runs the guest (${isRoot ? "as root, by setpriv" : "not root here: sudo must not ask, or it fails closed"})`, async () => {
    const runtime = openRuntime({ user: "nobody" });
    const state = await runtime.availability();
    if (isRoot && !hasSetpriv)
      return expect(state).toMatchObject({ available: false, reason: expect.stringContaining("setpriv") });
    if (!isRoot && !state.available) return expect(state.reason).toMatch(/sudo|does not start/);
    const session = await openGuest(runtime, "await tools.a()");
    await session.advance([]);
    const uid = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${runtime.processIds[0]}/status`, "utf8"))?.[1];
    expect(uid).toBe(/^nobody:[^:]*:(\d+)/m.exec(readFileSync("/etc/passwd", "utf8"))?.[1]);
    await session.close();
  });
});

if (hasBubblewrap) {
  const bench = new GuestBench(150);
  describe("without bubblewrap", () => {
    beforeAll(() => void (bench.runtime = createProcessRuntime({ isolateEntry, ...isolateLimits, bubblewrap: false })));
    afterAll(() => bench.runtime.close());
    describeHostileCode(bench);
  });
}
