/**
 * Random programs (seeded) made of the pieces real code is made of, run straight, and run with everything that can
 * interrupt a task: people who decide in any order, workers that die before or after a write, drains, engines that are
 * lost. Whatever interrupts it, the code must come to the same values, an unsafe call must never happen twice without a
 * person's yes, and what an effect saw must agree with what the code says in the end.
 * RANDOM_SEED=n starts elsewhere, RANDOM_PROGRAMS=n runs more.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { AppError } from "@executor/contracts/error";
import { createTestRuntime, openTaskHarness, type TaskHarness } from "@executor/testkit/task-harness";
import { result, type TestTool } from "@executor/testkit/tools/test-tools";
import { GuestLost, type Runtime } from "../ports/runtime.ts";
import type { Store } from "../ports/store.ts";
import { DRAIN } from "./stop-switch.ts";

const FIRST_SEED = Number(process.env["RANDOM_SEED"] ?? 1);
const PROGRAMS = Number(process.env["RANDOM_PROGRAMS"] ?? 12);

type Random = () => number;
function seeded(seed: number): Random {
  let state = (seed * 0x9e3779b9) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
const below = (random: Random, n: number): number => Math.floor(random() * n);

/** How often each effect must have happened: exactly, or at most (the code did not await it). */
interface Program {
  code: string;
  effects: Map<number, { atMost: number; exact: boolean }>;
}

const isDenied = (k: number): boolean => k % 7 === 3;

const HEAD = `
const values: Record<string, unknown> = {};
const log: string[] = [];
const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
const soften = (k: number, call: Promise<any>) => call.then(
  (got) => got.v,
  (error) => { if (error.code === "call.outcome_unknown") return k * 3; if (error.code === "approval.denied") return -k; throw error; });
const pay = (k: number) => soften(k, tools.fx.pay({ k, saw: log.join(","), r: Math.random(), t: Date.now() }));
const plain = (k: number) => soften(k, tools.fx.pay({ k }));
const slow = (k: number, ms: number) => soften(k, tools.fx.pay({ k, ms, saw: log.join(",") }));
const read = async (k: number) => (await tools.fx.read({ k, saw: log.join(",") }) as any).v;
const big = async (k: number) => { const got = await tools.fx.big({ k }) as any; return got.pad.length + k; };
const fail = (k: number) => tools.fx.fail({ k });
const ask = (k: number) => tools.human.ask({ question: "q" + k }) as Promise<string>;
`;

function makeProgram(random: Random): Program {
  const effects: Program["effects"] = new Map();
  let next = 1;
  const key = (exact: boolean, atMost = 1): number => {
    const k = next++;
    effects.set(k, { atMost, exact });
    return k;
  };
  const free = (): number => next++;
  const leaf = (): string => {
    switch (below(random, 9)) {
      case 0:
      case 1: {
        const k = key(true);
        return `values[${k}] = await pay(${k}); log.push("p${k}");`;
      }
      case 2: {
        const k = free();
        return `values[${k}] = await read(${k}); log.push("r${k}");`;
      }
      case 3:
        return `await sleep(${below(random, 6)}); log.push("t${free()}");`;
      case 4: {
        const k = free();
        return `values[${k}] = await big(${k}); log.push("b${k}");`;
      }
      case 5: {
        const k = free();
        return `values[${k}] = await ask(${k}); log.push("a${k}");`;
      }
      case 6: {
        const k = free();
        return `try { await fail(${k}); } catch (error) { values[${k}] = error.code; log.push("f${k}"); }`;
      }
      case 7: {
        const k = key(true);
        return `values[${k}] = await slow(${k}, ${below(random, 8)}); console.log("line ${k}"); log.push("s${k}");`;
      }
      default:
        return `console.log("out", ${free()}, "x".repeat(${below(random, 400)}));`;
    }
  };
  const chain = (): string => Array.from({ length: 1 + below(random, 3) }, leaf).join(" ");
  const piece = (): string => {
    switch (below(random, 12)) {
      case 0:
      case 1: {
        const branches = Array.from({ length: 2 + below(random, 4) }, () => `(async () => { ${chain()} })()`);
        return `await Promise.all([${branches.join(", ")}]);`;
      }
      case 2: {
        const branches = Array.from({ length: 2 + below(random, 3) }, () => `(async () => { ${chain()} })()`);
        return `await Promise.allSettled([${branches.join(", ")}]);`;
      }
      case 3: {
        const [a, b] = [key(false), key(false)];
        return `log.push("w" + String(await Promise.race([pay(${a}), slow(${b}, 3)])));`;
      }
      case 4: {
        const [a, b] = [free(), key(false)];
        return `log.push("y" + String(await Promise.any([fail(${a}).then(() => 0), pay(${b}), sleep(${below(random, 5)}).then(() => "time")])));`;
      }
      case 5: {
        const k = key(true);
        return `await new Promise<void>((done, broken) => { let n = 0; const every = setInterval(() => { log.push("i" + n); if (++n === 3) { clearInterval(every); pay(${k}).then((v) => { values[${k}] = v; done(); }, broken); } }, ${1 + below(random, 3)}); });`;
      }
      case 6: {
        const k = key(true);
        return `{ let other: any; await new Promise<void>((done) => { setTimeout(() => { clearTimeout(other); log.push("c"); done(); }, 2); other = setTimeout(() => log.push("never?"), 2); }); values[${k}] = await pay(${k}); }`;
      }
      case 7:
        return `void pay(${key(false)}).catch(() => undefined);`;
      case 8: {
        const [a, b] = [key(false), free()];
        return `try { await Promise.all([pay(${a}), fail(${b})]); } catch (error) { log.push("e" + error.code); }`;
      }
      case 9: {
        let k = key(true, 2);
        while (isDenied(k)) {
          effects.delete(k);
          k = key(true, 2);
        }
        return `values[${k}] = await Promise.all([plain(${k}), plain(${k})]);`;
      }
      case 10: {
        const ks = Array.from({ length: 3 + below(random, 8) }, () => key(true));
        return `for (const k of [${ks.join(", ")}]) values[k] = await pay(k);`;
      }
      default:
        return leaf();
    }
  };
  const pieces = Array.from({ length: 2 + below(random, 5) }, piece);
  const long = random() < 0.15 ? `// ${"long ".repeat(4_000)}\n` : "";
  return { code: `${HEAD}${long}${pieces.join("\n")}\nreturn { values, log: log.join(",") };`, effects };
}

interface Chaos {
  name: string;
  asks: boolean;
  dies: number;
  loses: number;
  drains: number;
  /** The run loses its lease while calls are under way. */
  stalls: number;
}
const kinds: Chaos[] = [
  { name: "straight", asks: false, dies: 0, loses: 0, drains: 0, stalls: 0 },
  { name: "asked", asks: true, dies: 0, loses: 0, drains: 0, stalls: 0 },
  { name: "lost", asks: false, dies: 0, loses: 0.2, drains: 0, stalls: 0 },
  { name: "drained", asks: false, dies: 0, loses: 0, drains: 0.6, stalls: 0 },
  { name: "killed", asks: false, dies: 0.15, loses: 0, drains: 0, stalls: 0 },
  { name: "stalled", asks: false, dies: 0, loses: 0, drains: 0, stalls: 0.4 },
  { name: "everything", asks: true, dies: 0.08, loses: 0.1, drains: 0.2, stalls: 0.1 },
];

let engine: Runtime;
beforeAll(() => {
  engine = createTestRuntime();
});
afterAll(() => engine.close());

/** The engine is lost now and then, before a turn or after it. */
function losing(runtime: Runtime, chance: number, random: Random): Runtime {
  const lose = (): boolean => random() < chance;
  return {
    id: runtime.id,
    label: runtime.label,
    description: runtime.description,
    preludeVersion: runtime.preludeVersion,
    availability: () => runtime.availability(),
    close: () => runtime.close(),
    open: async (program) => {
      const session = await runtime.open(program);
      return {
        close: () => session.close(),
        advance: async (deliveries) => {
          if (lose()) {
            await Bun.sleep(below(random, 6));
            throw new GuestLost("lost before the turn");
          }
          const turn = await session.advance(deliveries);
          if (lose()) throw new GuestLost("lost after the turn");
          return turn;
        },
      };
    },
  };
}

/** Dies before a write, or after it went through. A dead one stays dead. */
function mortal(store: Store, chance: number, random: Random): { store: Store; died(): "no" | "before" | "after" } {
  let died: "no" | "before" | "after" = "no";
  const proxy = new Proxy(store, {
    get: (target, verb: keyof Store) => {
      const value = target[verb];
      if (typeof value !== "function" || !["recordProgress", "pauseTask", "settleTask"].includes(verb)) return value;
      return async (args: never) => {
        if (died !== "no") throw new AppError("lease.lost", "dead");
        if (random() < chance) died = random() < 0.5 ? "before" : "after";
        if (died === "before") throw new AppError("lease.lost", "killed before a write");
        const written = await (value as (args: never) => Promise<unknown>)(args);
        // eslint-disable-next-line typescript/no-unnecessary-condition
        if (died !== "no") throw new AppError("lease.lost", "killed after a write");
        return written;
      };
    },
  });
  return { store: proxy, died: () => died };
}

async function runProgram(seed: number, chaos: Chaos): Promise<string | null> {
  const program = makeProgram(seeded(seed));
  const random = seeded(seed * 31 + kinds.indexOf(chaos) + 7);
  const happened: { k: number; saw?: string }[] = [];
  let interruptAt: { calls: number; act(): void } | null = null;
  const fx = (path: string, more: Partial<TestTool>, run: (k: number) => unknown): TestTool => ({
    path,
    run: async (call) => {
      const input = call.input as { k: number; saw?: string; ms?: number };
      if (interruptAt && --interruptAt.calls === 0) interruptAt.act();
      if (path === "fx.pay") happened.push(input);
      const ms = input.ms ?? below(random, 4);
      if (ms > 0) await Bun.sleep(ms);
      if (path === "fx.fail") return { ok: false, code: "fx.failed", message: "as it should" };
      return result(run(input.k));
    },
    ...more,
  });
  const tools = [
    fx("fx.pay", {}, (k) => ({ v: k * 3 })),
    fx("fx.read", { effect: "safe" }, (k) => ({ v: k * 5 })),
    fx("fx.big", { effect: "safe" }, (k) => ({ pad: "y".repeat(20_000 + k) })),
    fx("fx.fail", { effect: "safe" }, () => null),
  ];
  const harness = await openTaskHarness({ runtime: losing(engine, chaos.loses, random), tools: () => tools });
  try {
    if (chaos.asks) await harness.policy("fx.pay", "require_approval");
    const id = await harness.submit(program.code);
    let trace = "";
    for (let round = 0; ; round++) {
      const task = await harness.read(id);
      if (!["queued", "running", "waiting"].includes(task.status)) break;
      if (round > 400) return `stays ${task.status} ${trace}`;
      if (task.pendingCount !== task.pending.length)
        return `pendingCount ${task.pendingCount}, but ${task.pending.length} are pending`;
      if (task.status === "waiting") await decideSome(harness, id, random);
      if ((await harness.read(id)).status !== "queued") return `is not queued after a decision ${trace}`;
      const mortalStore = mortal(harness.store, chaos.dies, random);
      const controller = new AbortController();
      let early: Promise<unknown> = Promise.resolve();
      if (random() < chaos.drains) interruptAt = { calls: 1 + below(random, 4), act: () => controller.abort(DRAIN) };
      else if (random() < chaos.stalls)
        interruptAt = {
          calls: 1 + below(random, 4),
          act: () => void (early = early.then(() => harness.expireLease()).then(() => controller.abort("lease lost"))),
        };
      if (chaos.asks && random() < 0.3)
        early = Bun.sleep(below(random, 30)).then(() => decideSome(harness, id, random).catch(() => undefined));
      const end = await harness
        .run(id, { store: mortalStore.store, signal: controller.signal })
        .then((each) => each.kind as string)
        .catch((error: unknown) => {
          if (mortalStore.died() === "no" && !(error instanceof AppError && error.code === "lease.lost")) throw error;
          return "died";
        });
      trace += `${end} `;
      await early;
      interruptAt = null;
      if ((await harness.read(id)).status === "running") await harness.expireLease();
    }
    return await judge(harness, id, program, chaos, happened);
  } finally {
    await harness.close();
  }
}

/** A person comes by and decides on some of what is asked, at least on one. */
async function decideSome(harness: TaskHarness, id: string, random: Random): Promise<void> {
  const { pending } = await harness.read(id);
  const chosen = pending.filter(() => random() < 0.6);
  for (const each of chosen.length > 0 ? chosen : pending.slice(0, 1)) {
    if (each.kind !== "approval") await harness.answer(each.interactionId, `answer to ${each.title}`);
    else {
      const { k } = JSON.parse(each.inputJson) as { k: number };
      const no = each.mayHaveRun === 1 || isDenied(k);
      await harness.decide(each.interactionId, no ? "denied" : "approved");
    }
  }
}

async function judge(
  harness: TaskHarness,
  id: string,
  program: Program,
  chaos: Chaos,
  happened: { k: number; saw?: string }[],
): Promise<string | null> {
  const task = await harness.read(id);
  if (task.status !== "completed") return `${task.status} ${JSON.stringify(task.error)}`;
  const { values, log } = task.result as { values: Record<string, unknown>; log: string };
  const calls = await harness.calls(id);
  const unknown = new Set<number>();
  for (const call of calls) {
    if (call.outcomeJson?.includes("call.outcome_unknown"))
      unknown.add((JSON.parse(call.inputJson) as { k: number }).k);
    if (call.toolPath === "fx.pay" && call.sends > 1) return `${call.inputJson} was sent ${call.sends} times`;
  }
  for (const [k, { atMost, exact }] of program.effects) {
    const denied = chaos.asks && isDenied(k);
    const count = happened.filter((each) => each.k === k).length;
    if (count > (denied ? 0 : atMost))
      return `effect ${k} happened ${count} times, ${denied ? "denied" : `at most ${atMost}`}`;
    if (exact && !denied && !unknown.has(k) && count !== atMost)
      return `effect ${k} happened ${count} times, not ${atMost}`;
    if (exact && atMost === 1 && values[k] !== (denied ? (unknown.has(k) ? k * 3 : -k) : k * 3))
      return `value ${k} is ${JSON.stringify(values[k])}`;
  }
  for (const { k, saw } of happened)
    if (saw !== undefined && saw !== "" && log !== saw && !log.startsWith(`${saw},`))
      return `effect ${k} saw ${saw}, but the code says ${log}`;
  if (log.includes("never?")) return "a cleared timer fired";
  const events = await harness.store.readTaskEvents({ taskId: id, afterSeq: 0, limit: 10_000 });
  if (events.some((event, index) => event.seq !== index + 1)) return "the numbers of the events have a gap";
  const lines = events.filter((event) => event.type === "task.stdout").map((event) => event.dataJson);
  if (new Set(lines).size !== lines.length) return "a line of output was told twice";
  const asked = await harness.store.listInteractions({
    workspaceId: harness.workspaceId,
    status: null,
    approvalsOnly: true,
    taskId: id,
    after: null,
    limit: 1_000,
  });
  for (const call of calls) {
    const used = asked.filter(({ interaction }) => interaction.callId === call.callId && interaction.usedAt !== null);
    if (chaos.asks && call.toolPath === "fx.pay" && call.sends !== used.length)
      return `${call.inputJson} was sent ${call.sends} times with ${used.length} approvals`;
  }
  return null;
}

for (const chaos of kinds) {
  test(`random programs, ${chaos.name}, come to what they must`, async () => {
    const wrong: string[] = [];
    for (let seed = FIRST_SEED; seed < FIRST_SEED + PROGRAMS; seed++) {
      const problem = await runProgram(seed, chaos);
      if (problem !== null) wrong.push(`seed ${seed}: ${problem}`);
    }
    expect(wrong).toEqual([]);
  }, 300_000);
}
