/** What can go wrong between a run, Vercel and a guest, and what comes of it. */
import { afterEach, expect, test } from "bun:test";
import { GuestLost, type GuestProgram, type GuestSession } from "@executor/core/ports/runtime";
import type { Fence } from "@executor/core/store/progress";
import { openVercelBench, type VercelBench } from "@executor/testkit/vercel/vercel-bench";
import type { VercelRuntimeOptions } from "./vercel-sandbox-runtime.ts";

let bench: VercelBench;
afterEach(() => bench.stop());

const start = async (
  options: Partial<VercelRuntimeOptions> = {},
  settings: Partial<VercelRuntimeOptions["settings"]> = {},
): Promise<VercelBench> => (bench = await openVercelBench(options, settings));

const limits = {
  cpuMs: 2_000,
  memoryBytes: 32_000_000,
  outputBytes: 20_000,
  calls: 200,
  callInputBytes: 100_000,
  resultBytes: 200_000,
};
const program = (body: string, fence: Fence): GuestProgram => ({
  taskId: fence.taskId,
  fence,
  script: `(async () => { ${body} })`,
  seed: "0".repeat(32),
  startMs: 0,
  limits,
});
const result = (id: number) => ({ kind: "result", id, json: "1", atMs: 1 }) as const;

async function openGuest(body: string): Promise<{ fence: Fence; session: GuestSession }> {
  const fence = await bench.callback.claim();
  return { fence, session: await bench.bare.open(program(body, fence)) };
}

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isSo()); tries++) {
    if (tries > 300) throw new Error(`still not: ${what}\n${await bench.api.report()}`);
    await Bun.sleep(50);
  }
}
const noMachines = () => until("all VMs are deleted", () => bench.api.sandboxes.size === 0);

test("a VM is asked for as agreed: one callback host, not persistent, by explicit credentials", async () => {
  await start();
  const { session } = await openGuest("return 1;");
  const [vm] = bench.api.made;
  expect(vm?.asked).toMatchObject({
    projectId: "prj_1",
    runtime: "node22",
    persistent: false,
    timeout: 300_000,
    networkPolicy: { allow: ["127.0.0.1"] },
    ports: [],
  });
  expect(vm?.asked["env"]).toBeUndefined();
  expect(vm?.commands.map(({ command, args }) => [command, args])).toEqual([
    ["node", ["executor/main.mjs", "executor/job-0.json"]],
  ]);
  // The job holds the token: neither the command line nor a file that stays does.
  expect(await Bun.file(`${vm?.cwd}/executor/job-0.json`).exists()).toBe(false);
  expect((await session.advance([])).end).toEqual({ kind: "returned", resultJson: "1" });
  await session.close();
  await noMachines();
});

test.each([
  [{ runtime: "node24", image: null }, "node24", undefined],
  [{ runtime: "node22", image: "vercel/sandbox/node:24" }, undefined, "vercel/sandbox/node:24"],
])("what was chosen for it to start from is used: %o", async (settings, runtime, image) => {
  bench = await openVercelBench({}, settings);
  const { session } = await openGuest("return 1;");
  expect(bench.api.made.map(({ asked }) => [asked["runtime"], asked["image"]])).toEqual([[runtime, image]]);
  // The SDK has a way of its own for each.
  expect(bench.api.requests[0]).toBe(image === undefined ? "POST /v2/sandboxes" : "POST /v3/sandboxes");
  await session.close();
});

test("a dropped response to the run command: the command ran once", async () => {
  await start();
  bench.api.mishaps.push({ on: /POST .*\/cmd$/, how: "drop", times: 5 });
  const { session } = await openGuest("return await tools.a();");
  await session.advance([]);
  expect((await session.advance([result(0)])).end).toEqual({ kind: "returned", resultJson: "1" });
  await session.close();
  expect(bench.api.commandCount).toBe(1);
  await noMachines();
});

test("the run command is refused: the guest is lost, the VM deleted, and another is tried", async () => {
  await start();
  bench.api.mishaps.push({ on: /POST .*\/cmd$/, how: { status: 503, code: "busy", message: "no" }, times: 1 });
  const { session } = await openGuest("return 1;");
  expect((await session.advance([])).end?.kind).toBe("returned");
  await session.close();
  expect(bench.api.made).toHaveLength(2);
  expect(bench.api.commandCount).toBe(1);
  await noMachines();
});

test("a dropped response to the request for a VM: that VM is deleted too", async () => {
  await start();
  bench.api.mishaps.push({ on: /POST \/v2\/sandboxes$/, how: "drop", times: 1 });
  const { session } = await openGuest("return 1;");
  expect(bench.api.made).toHaveLength(2);
  await session.close();
  await noMachines();
});

test("a VM that is made after its request was given up is deleted all the same", async () => {
  await start();
  bench.api.mishaps.push({ on: /POST \/v2\/sandboxes$/, how: "late", times: 1 });
  const { session } = await openGuest("return 1;");
  await session.close();
  await until("it is made", () => bench.api.made.length === 2);
  await noMachines();
}, 30_000);

test.each([
  ["files", /POST .*\/fs\/write$/],
  ["the state of the command", /GET .*\/cmd\//],
  ["its deletion", /DELETE /],
])(
  "dropped responses to requests for %s: one VM, one run, none left",
  async (_, on) => {
    await start({ checkMs: 100 });
    bench.api.mishaps.push({ on, how: "drop", times: 2 });
    const { session } = await openGuest("return await tools.a();");
    await session.advance([]);
    await until(
      "it was dropped or comes last",
      () => bench.api.mishaps[0]?.times === 0 || String(on).includes("DELETE"),
    );
    expect((await session.advance([result(0)])).end).toEqual({ kind: "returned", resultJson: "1" });
    await session.close();
    await noMachines();
    expect(bench.api.mishaps[0]?.times).toBeLessThan(2);
    expect([bench.api.made.length, bench.api.commandCount]).toEqual([1, 1]);
  },
  20_000,
);

test("a callback URL that leads elsewhere: given up with the URL named, and no VM is left", async () => {
  const elsewhere = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response(null, { status: 302, headers: { location: "/login" } }),
  });
  const url = `http://127.0.0.1:${elsewhere.port}`;
  await start({ checkMs: 100, readCallback: () => ({ url }) });
  await expect(openGuest("return 1;")).rejects.toThrow(`${url}/internal, which must lead to this server`);
  await noMachines();
  await elsewhere.stop(true);
}, 30_000);

test("bad credentials are refused with what to do", async () => {
  await start();
  bench.api.mishaps.push({
    on: /POST \/v2\/sandboxes$/,
    how: { status: 403, code: "forbidden", message: "Not authorized" },
    times: 1,
  });
  await expect(openGuest("return 1;")).rejects.toThrow(
    /Vercel refused the credentials.*Not authorized.*vercel env pull/,
  );
  expect(bench.api.requests).toHaveLength(1);
});

test("Vercel has no room: it is tried again, and then said", async () => {
  await start();
  bench.api.mishaps.push({
    on: /POST \/v2\/sandboxes$/,
    how: { status: 429, code: "rate", message: "slow down" },
    times: 9,
  });
  await expect(openGuest("return 1;")).rejects.toThrow(/No VM could be started at Vercel.*429/);
  expect(bench.api.requests.length).toBeGreaterThan(1);
}, 20_000);

test("a VM that is lost while its guest thinks is noticed, and so is one that is lost while it waits", async () => {
  await start({ checkMs: 100 });
  for (const body of ["for (;;) ;", "await tools.a(); return 1;"]) {
    const { session } = await openGuest(body);
    const vm = [...bench.api.sandboxes.values()][0];
    if (!vm) throw new Error("no VM");
    const turn = session.advance([]);
    if (body.startsWith("await")) {
      await turn;
      bench.api.lose(vm);
      await expect(session.advance([result(0)])).rejects.toThrow(GuestLost);
    } else {
      await Bun.sleep(200);
      bench.api.lose(vm);
      await expect(turn).rejects.toThrow(GuestLost);
    }
    await session.close();
    await noMachines();
  }
});

test("a runner that dies is a lost guest", async () => {
  await start({ checkMs: 100 });
  const { session } = await openGuest("return await tools.a();");
  await session.advance([]);
  for (const { child } of bench.api.made[0]?.commands ?? []) child.kill("SIGKILL");
  await expect(session.advance([result(0)])).rejects.toThrow(GuestLost);
  await session.close();
  await noMachines();
});

test("a guest that waits keeps its VM for a moment; the next run of the task replays in it", async () => {
  await start({}, { graceMs: 20_000 });
  const { fence, session } = await openGuest("const a = await tools.a(); return a + (await tools.b());");
  await session.advance([]);
  await session.close();
  const again = await bench.bare.open(program("const a = await tools.a(); return a + (await tools.b());", fence));
  expect((await again.advance([result(0)])).calls.map(({ path }) => path)).toEqual(["a", "b"]);
  expect((await again.advance([result(1)])).end).toEqual({ kind: "returned", resultJson: "2" });
  await again.close();
  expect(bench.api.made).toHaveLength(1);
  expect(bench.api.commandCount).toBe(2);
  await noMachines();
});

test("a run that is stopped keeps no VM, whatever its guest was doing", async () => {
  await start({}, { graceMs: 60_000 });
  const controller = new AbortController();
  const session = await bench.bare.open(program("await tools.a();", await bench.callback.claim()), controller.signal);
  await session.advance([]);
  controller.abort();
  await session.close();
  await noMachines();
});

test("after the moment it is deleted, and a later run gets another", async () => {
  await start({}, { graceMs: 100 });
  const { fence, session } = await openGuest("return await tools.a();");
  await session.advance([]);
  await session.close();
  await noMachines();
  const again = await bench.bare.open(program("return await tools.a();", fence));
  expect((await again.advance([result(0)])).end?.kind).toBe("returned");
  await again.close();
  expect(bench.api.made).toHaveLength(2);
});

test("a kept VM that died meanwhile is replaced", async () => {
  await start({}, { graceMs: 20_000 });
  const { fence, session } = await openGuest("return await tools.a();");
  await session.advance([]);
  await session.close();
  const [vm] = bench.api.made;
  if (vm) bench.api.lose(vm);
  const again = await bench.bare.open(program("return await tools.a();", fence));
  expect((await again.advance([result(0)])).end?.kind).toBe("returned");
  await again.close();
  expect(bench.api.made).toHaveLength(2);
  await noMachines();
});

test("a run that is called off while its VM starts leaves none behind", async () => {
  await start();
  const controller = new AbortController();
  const opening = bench.bare.open(program("return 1;", await bench.callback.claim()), controller.signal);
  await until("a VM is asked for", () => bench.api.requests.length > 0);
  controller.abort();
  await expect(opening).rejects.toThrow(GuestLost);
  await noMachines();
});

test("closing the runtime deletes what it kept", async () => {
  await start({}, { graceMs: 60_000 });
  const { session } = await openGuest("return await tools.a();");
  await session.advance([]);
  await session.close();
  expect(bench.api.sandboxes.size).toBe(1);
  await bench.bare.close();
  expect(bench.api.sandboxes.size).toBe(0);
});

test("a session that is closed while its code runs ends at once, and its VM with it", async () => {
  await start();
  const { session } = await openGuest("for (;;) ;");
  const turn = session.advance([]);
  await Bun.sleep(100);
  await session.close();
  await expect(turn).rejects.toThrow(GuestLost);
  await noMachines();
});
