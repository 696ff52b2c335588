/** An MCP server over stdio that does not want to go: deaf to SIGTERM and to the end of its input, with a child of its own. */
const child = Bun.spawn(["sleep", "600"], { stdio: ["ignore", "ignore", "ignore"] });
for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const) process.on(signal, () => undefined);
setInterval(() => undefined, 1_000);

const answers: Record<string, unknown> = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "stubborn", version: "1.0.0" },
  },
  "tools/list": {
    tools: [{ name: "pids", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }],
  },
  "tools/call": { content: [{ type: "text", text: `${process.pid} ${child.pid}` }] },
};

for await (const line of console) {
  const { id, method } = JSON.parse(line) as { id?: number; method?: string };
  if (id === undefined) continue;
  const result = answers[method ?? ""];
  const error = { code: -32_601, message: "method not found" };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(result === undefined ? { error } : { result }) }));
}
await Bun.sleep(600_000);
