/** What to paste where, for each assistant. Pure: the address and the key are given. */
export interface SetUp {
  id: string;
  label: string;
  /** Where it goes. */
  where: string;
  text: string;
  /** Neither TypeScript nor JSON. */
  isShell?: boolean;
}

const json = (value: unknown): string => JSON.stringify(value, null, 2);

export function setUps(baseUrl: string, token: string): SetUp[] {
  const url = `${baseUrl}/mcp`;
  const headers = { Authorization: `Bearer ${token}` };
  return [
    {
      id: "claude-code",
      isShell: true,
      label: "Claude Code",
      where: "Run in a terminal.",
      text: `claude mcp add --transport http executor ${url} --header "Authorization: Bearer ${token}"`,
    },
    {
      id: "cursor",
      label: "Cursor",
      where: "In ~/.cursor/mcp.json, or .cursor/mcp.json of a project.",
      text: json({ mcpServers: { executor: { url, headers } } }),
    },
    {
      id: "codex",
      isShell: true,
      label: "Codex",
      where: "In ~/.codex/config.toml, with the key in the environment variable EXECUTOR_API_KEY.",
      text: `[mcp_servers.executor]\nurl = ${JSON.stringify(url)}\nbearer_token_env_var = "EXECUTOR_API_KEY"\n\n# export EXECUTOR_API_KEY=${token}`,
    },
    {
      id: "vs-code",
      label: "VS Code",
      where: "In .vscode/mcp.json of a project.",
      text: json({ servers: { executor: { type: "http", url, headers } } }),
    },
    {
      id: "sdk",
      label: "SDK",
      where: "In a program, with the key in the environment variable EXECUTOR_TOKEN.",
      text: `import { createExecutor } from "@executor/client";

const executor = createExecutor({ baseUrl: ${JSON.stringify(baseUrl)}, token: process.env.EXECUTOR_TOKEN });
const namespaces = await executor.tasks.run("return await tools.catalog.namespaces()");
console.log(namespaces);`,
    },
    {
      id: "curl",
      isShell: true,
      label: "curl",
      where: "Run in a terminal.",
      text: `curl -s ${baseUrl}/api/runtime-targets -H "authorization: Bearer ${token}"`,
    },
  ];
}
