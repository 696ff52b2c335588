/** A program of 30 lines against a catalog of 20,000 tools: with a warm compiler, from nothing, and what the compiler holds. */
import { readFileSync } from "node:fs";
import type { ToolView } from "@executor/core/tools/describe-tools";
import { createSegment } from "@executor/core/tools/tool-segment";
import type { Tool } from "@executor/core/tools/tool";
import { createTypeChecker } from "@executor/typecheck/type-checker";
import { typecheckCode } from "../../apps/server/src/typecheck/typecheck-code.ts";
import { type Figure, makeRow, type Row } from "../src/figure.ts";
import { p50, percentile } from "../src/samples.ts";

const NAMESPACES = 20;
const TOOLS_EACH = 1_000;

export const typecheckFigure: Figure = {
  name: "typecheck",
  means: "30 lines against 20,000 tools: warm p50, cold, memory",
  async measure({ quick }) {
    const view = makeView();
    const warm: number[] = [];
    const cold: number[] = [];
    let mb = 0;
    const check = async (typeChecker: ReturnType<typeof createTypeChecker>, round: number): Promise<number> => {
      const code = program(round);
      const from = performance.now();
      const result = await typecheckCode({ typeChecker }, view, code);
      const ms = performance.now() - from;
      // One seeded mistake, and nothing else: a checker that sees nothing would be fast.
      if (result.checked !== "types" || result.diagnostics.length !== 1) throw new Error(JSON.stringify(result));
      return ms;
    };
    for (let round = 0; round < (quick ? 3 : 15); round++) {
      const fresh = createTypeChecker();
      cold.push(await check(fresh, round));
      fresh.close();
    }
    const checker = createTypeChecker();
    for (let round = 0; round < (quick ? 50 : 300); round++) {
      const ms = await check(checker, round);
      if (round >= 10) warm.push(ms);
      mb = Math.max(mb, rssMb(checker.pid() ?? 0));
    }
    checker.close();
    const row = (figure: string, unit: string, product: number, limit: number, note: string): Row =>
      makeRow({
        figure: `typecheck/${figure}`,
        unit,
        floor: null,
        product,
        aim: `< ${limit} ${unit}`,
        isMet: ({ product: value }) => value < limit,
        note,
      });
    return [
      row("warm", "ms", p50(warm), 30, `another program each time; p90 ${percentile(warm, 0.9).toFixed(1)}`),
      row("cold", "ms", p50(cold), 600, `with the start of the compiler; worst ${percentile(cold, 1).toFixed(0)}`),
      row("memory", "MB", mb, 120, "most that the compiler's process held"),
    ];
  },
};

function makeView(): ToolView {
  const segments = Array.from({ length: NAMESPACES }, (_, index) =>
    createSegment(
      `service${index}`,
      Array.from({ length: TOOLS_EACH }, (__, number) =>
        makeTool(`service${index}.group${number % 40}.operation${number}`),
      ),
    ),
  );
  return { catalog: { segments }, policies: [], caller: { actorId: "a", clientId: "c" } };
}

const text = { type: "string" };
const record = (names: string[], extra: Record<string, unknown> = {}) => ({
  type: "object",
  properties: { ...Object.fromEntries(names.map((name) => [name, text])), ...extra },
});
const fields = Array.from({ length: 25 }, (_, index) => `field_${index}`);
const shape = {
  signature: "",
  inputSchema: {
    ...record(["owner", "repo", "state"], { page: { type: "integer" }, filter: record(["by", "sort"]) }),
    required: ["owner", "repo"],
  },
  outputSchema: {
    type: "array",
    items: record(fields, {
      id: { type: "integer" },
      user: record(["login", "url"]),
      labels: { type: "array", items: record(["name"]) },
    }),
  },
};

const makeTool = (path: string): Tool => ({
  path,
  source: path.split(".", 1)[0] ?? "",
  description: "",
  keywords: "",
  schemaHash: "",
  effect: "safe",
  idempotent: true,
  approval: "auto",
  neverAsks: false,
  shape: async () => shape,
  prepare: async () => ({ kind: "ready", send: async () => ({ ok: true, json: "1" }) }),
});

/** 30 lines that use ten tools, others each time, with one mistake. */
function program(round: number): string {
  const call = (index: number): string => {
    const number = (round * 37 + index * 101) % TOOLS_EACH;
    return `tools.service${(round + index) % NAMESPACES}.group${number % 40}.operation${number}`;
  };
  const lines = Array.from({ length: 9 }, (_, index) => [
    `const list${index} = await ${call(index)}({ owner: "a", repo: "b", page: ${index} });`,
    `const names${index} = list${index}.filter((each) => each.id > ${index}).map((each) => each.user.login.toUpperCase());`,
    `if (names${index}.length > 10) console.log(names${index}.join(", "), list${index}[0]?.labels.map(({ name }) => name));`,
  ]).flat();
  return [
    ...lines,
    `const last = await ${call(9)}({ owner: "a", repo: 5 });`,
    `console.log(last.length);`,
    `return names0;`,
  ].join("\n");
}

function rssMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
}
