/** Our MCP endpoint: a small task over `/mcp` against the same over REST, and what sessions cost that nobody uses. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { readTreeAloneMb } from "../src/child-process.ts";
import { type Figure, makeRow, type Row } from "../src/figure.ts";
import { type Api, type Installation, openInstallation, submit } from "../src/installation.ts";
import { p50, percentile, sampleInTurn, timeMs } from "../src/samples.ts";

const code = "return 1+1";
const newCode = () => `return 1+1 // ${crypto.randomUUID()}`;
const SESSIONS = 500;
const revisions = ["2025-11-25", "2026-07-28"] as const;

export const mcpFigure: Figure = {
  name: "mcp",
  means: "execute `return 1+1` over /mcp against REST, p50; 500 idle sessions",
  async measure({ quick }) {
    const product = await openInstallation();
    const clients = await Promise.all(revisions.map((revision) => connect(product.owner, revision)));
    try {
      const [stateful, stateless] = clients as [Client, Client];
      const samples = await sampleInTurn(
        {
          rest: () => timeMs(() => overRest(product.owner, {})),
          checked: () => timeMs(() => overRest(product.owner, { typecheck: true })),
          stateful: () => timeMs(() => overMcp(stateful)),
          stateless: () => timeMs(() => overMcp(stateless)),
          // Whose types were not checked before, and that no engine has seen: over REST as over MCP.
          newRest: () => timeMs(() => overRest(product.owner, {}, newCode())),
          newCode: () => timeMs(() => overMcp(stateful, newCode())),
        },
        { rounds: quick ? 100 : 500, warmUp: 50 },
      );
      const rest = p50(samples.rest);
      const others = `REST with typecheck ${p50(samples.checked).toFixed(2)}`;
      const row = (figure: string, ms: number[], floor = rest): Row =>
        makeRow({
          figure: `mcp/${figure}`,
          unit: "ms",
          floor,
          product: p50(ms),
          aim: "<= 1.5x of REST",
          isMet: ({ ratio }) => ratio <= 1.5,
          note: `${others}; p90 ${percentile(ms, 0.9).toFixed(2)}`,
        });
      return [
        row("2025-11-25", samples.stateful),
        row("2026-07-28", samples.stateless),
        row("new-code", samples.newCode, p50(samples.newRest)),
        await measureSessions(product),
      ];
    } finally {
      await Promise.all(clients.map((client) => client.close()));
      await product.close();
    }
  },
};

async function connect({ baseUrl, token }: Api, revision: (typeof revisions)[number]): Promise<Client> {
  const client = new Client(
    { name: "bench", version: "1" },
    revision === "2026-07-28" ? { versionNegotiation: { mode: { pin: revision } } } : {},
  );
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${baseUrl}/mcp`), { requestInit: { headers } }));
  return client;
}

async function overMcp(client: Client, program = code): Promise<void> {
  const { structuredContent } = await client.callTool({ name: "execute", arguments: { code: program } });
  if ((structuredContent as { result?: unknown }).result !== 2) throw new Error(JSON.stringify(structuredContent));
}

async function overRest(api: Api, more: object, program = code): Promise<void> {
  const { result } = await ("typecheck" in more
    ? api.request<{ result?: unknown }>("POST", "/api/tasks?wait=60000", {
        workspaceId: api.workspaceId,
        code: program,
        ...more,
      })
    : submit(api, program, "?wait=60000"));
  if (result !== 2) throw new Error("the task gave no 2");
}

/** Opened by as many keys as it takes: one may only have a hundred. */
async function measureSessions(product: Installation): Promise<Row> {
  const { owner, server } = product;
  const keys = await Promise.all(
    Array.from({ length: Math.ceil(SESSIONS / 100) }, (_, index) =>
      owner.request<{ token: string }>("POST", "/api/keys", {
        workspaceId: owner.workspaceId,
        role: "agent",
        label: `k${index}`,
      }),
    ),
  );
  await Bun.sleep(1_500);
  const before = readTreeAloneMb([server.pid]);
  for (let opened = 0; opened < SESSIONS; opened++)
    await openSession(owner.baseUrl, keys[opened % keys.length]?.token ?? "");
  await Bun.sleep(1_500);
  const used = readTreeAloneMb([server.pid]) - before;
  return makeRow({
    figure: "mcp/sessions",
    unit: "MB",
    floor: null,
    product: used,
    aim: "< 30 MB for 500",
    isMet: ({ product: mb }) => mb < 30,
    note: `${SESSIONS} sessions of 2025-11-25, opened and left alone; server ${before.toFixed(0)} MB before`,
  });
}

async function openSession(baseUrl: string, token: string): Promise<void> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "idle", version: "1" } };
  const response = await fetch(`${baseUrl}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }),
  });
  await response.text();
  if (response.headers.get("mcp-session-id") === null) throw new Error(`no session: ${response.status}`);
}
