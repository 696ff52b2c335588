/** The reference MCP server over streamable HTTP, as a process of its own on a free port. */
import { dirname, join } from "node:path";
import { until } from "./until.ts";

export interface HttpMcpServer {
  url: string;
  stop(): Promise<void>;
}

const script = join(
  dirname(Bun.resolveSync("@modelcontextprotocol/server-everything/package.json", import.meta.dir)),
  "dist/index.js",
);

export async function startEverything(): Promise<HttpMcpServer> {
  const port = await freePort();
  const child = Bun.spawn([process.execPath, script, "streamableHttp"], {
    env: { PATH: process.env["PATH"] ?? "", PORT: String(port) },
    stdio: ["ignore", "ignore", "ignore"],
  });
  const url = `http://127.0.0.1:${port}/mcp`;
  await until("the MCP server", () =>
    fetch(url).then(
      () => true,
      () => false,
    ),
  );
  return {
    url,
    async stop() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

async function freePort(): Promise<number> {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("") });
  const { port } = server;
  await server.stop(true);
  return port as number;
}
