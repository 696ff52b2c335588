/**
 * What one tool call through an OpenAPI source costs: a task of 100 calls less a task of none. The floor is a bare fetch of the
 * same answer and the durable rows of one call. Safe calls (GET) may be written together; unsafe ones (POST, allowed by a
 * policy) are on disk before they leave. CPU is that of server, worker and guests together, without the API that answers.
 */
import { type BareFloor, openBareFloor } from "../src/bare-floor.ts";
import { readTreeCpuMs, startChild } from "../src/child-process.ts";
import { type Figure, makeRow, type Row } from "../src/figure.ts";
import { apiServerMain, type Api, type Installation, openInstallation, runToEnd } from "../src/installation.ts";
import { p50, sampleInTurn, timeMs } from "../src/samples.ts";

const calls = 100;
const secret = "bench-secret-of-the-api";
const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
const empty = "return 0";

interface Kind {
  figure: string;
  /** What the guest writes for the i-th call. */
  call: string;
  fetch(baseUrl: string, i: number): Promise<Response>;
  write(floor: BareFloor): void;
}

const kinds: Kind[] = [
  {
    figure: "source-calls/safe",
    call: "tools.things.things.get_thing({ id: i })",
    fetch: (baseUrl, i) => fetch(`${baseUrl}/things/${i}`, { headers }),
    write: (floor) => floor.store.writeTaskOfSafeCalls(calls),
  },
  {
    figure: "source-calls/unsafe",
    call: 'tools.things.things.create_thing({ value: i, note: "n" })',
    fetch: (baseUrl, i) =>
      fetch(`${baseUrl}/things`, { method: "POST", headers, body: JSON.stringify({ value: i, note: "n" }) }),
    write: (floor) => floor.store.writeTaskOfUnsafeCalls(calls),
  },
];

export const sourceCallsFigure: Figure = {
  name: "source-calls",
  means: "one tool call through an OpenAPI source, over a bare fetch and its durable rows; and its CPU",
  async measure({ quick }) {
    const api = startChild(apiServerMain);
    const { port } = await api.said("server.listening");
    const baseUrl = `http://127.0.0.1:${port}`;
    const floor = await openBareFloor();
    const product = await openInstallation();
    try {
      await addSource(product.owner, baseUrl);
      const rows: Row[] = [];
      for (const kind of kinds) rows.push(...(await measureKind({ floor, product, baseUrl }, kind, quick ? 10 : 40)));
      return rows;
    } finally {
      await product.close();
      await floor.close();
      await api.stop();
    }
  },
};

interface Places {
  floor: BareFloor;
  product: Installation;
  baseUrl: string;
}

async function measureKind({ floor, product, baseUrl }: Places, kind: Kind, rounds: number): Promise<Row[]> {
  const code = `let sum = 0;\nfor (let i = 0; i < ${calls}; i++) sum += (await ${kind.call}).tags.length;\nreturn sum`;
  const pids = [product.server.pid, product.worker.pid];
  const cpu = { calls: 0, empty: 0 };
  const run = (what: keyof typeof cpu, text: string) => async (): Promise<number> => {
    const before = readTreeCpuMs(pids);
    const ms = await timeMs(async () => expectSum(await runToEnd(product.owner, text), what === "calls"));
    cpu[what] += readTreeCpuMs(pids) - before;
    return ms;
  };
  const samplers = {
    fetch: () => timeMs(() => fetchAll(kind, baseUrl)),
    store: () => timeMs(() => kind.write(floor)),
    storeEmpty: () => timeMs(() => floor.store.writeTask()),
    calls: run("calls", code),
    empty: run("empty", empty),
  };
  await sampleInTurn(samplers, { rounds: 0, warmUp: 15 });
  Object.assign(cpu, { calls: 0, empty: 0 });
  const samples = await sampleInTurn(samplers, { rounds, warmUp: 0 });
  const each = (ms: number): number => ms / calls;
  const fetchMs = each(p50(samples.fetch));
  const storeMs = each(p50(samples.store) - p50(samples.storeEmpty));
  const cpuMs = each((cpu.calls - cpu.empty) / rounds);
  return [
    makeRow({
      figure: kind.figure,
      unit: "ms",
      floor: fetchMs + storeMs,
      product: each(p50(samples.calls) - p50(samples.empty)),
      aim: "<= 1.5x",
      isMet: ({ ratio }) => ratio <= 1.5,
      note: `per call, ${calls} in a row; floor = fetch ${fetchMs.toFixed(3)} + rows ${storeMs.toFixed(3)}`,
    }),
    makeRow({
      figure: `${kind.figure}-cpu`,
      unit: "ms CPU",
      floor: null,
      product: cpuMs,
      aim: "<= 1.5 ms",
      isMet: ({ product: ms }) => ms <= 1.5,
      note: `server, worker and guests over ${rounds} tasks of ${calls} calls, less tasks of none`,
    }),
  ];
}

async function fetchAll(kind: Kind, baseUrl: string): Promise<void> {
  for (let i = 0; i < calls; i++) {
    const answer = (await (await kind.fetch(baseUrl, i)).json()) as { tags: string[] };
    if (answer.tags.length !== 2) throw new Error("the API answered something else");
  }
}

function expectSum({ result }: { result?: unknown }, hasCalls: boolean): void {
  if (result !== (hasCalls ? 2 * calls : 0)) throw new Error(`the task came to ${String(result)}`);
}

async function addSource(owner: Api, baseUrl: string): Promise<void> {
  const { workspaceId } = owner;
  await owner.request("POST", "/api/tool-sources", {
    workspaceId,
    type: "openapi",
    name: "Things",
    spec: `${baseUrl}/openapi.json`,
    auth: { mode: "static", type: "bearer", token: secret },
  });
  await owner.request("POST", "/api/policies", { workspaceId, toolPathPattern: "things.*", decision: "allow" });
  for (let tries = 0; tries < 200; tries++) {
    const { items } = await owner.request<{ items: { namespace: string; health: string; lastError?: unknown }[] }>(
      "GET",
      `/api/tool-sources?workspaceId=${workspaceId}`,
    );
    const source = items.find(({ namespace }) => namespace === "things");
    if (source?.health === "ok") return;
    if (source?.lastError) throw new Error(`the source cannot be read: ${JSON.stringify(source.lastError)}`);
    await Bun.sleep(50);
  }
  throw new Error("the source was not read within ten seconds");
}
