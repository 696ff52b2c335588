/**
 * The bridge as a process, as a host starts it: `EXECUTOR_MCP_URL` (default the local server) and `EXECUTOR_API_KEY`, an agent key of its
 * own. stdout carries the protocol and nothing else.
 */
import { runBridge } from "./bridge.ts";

const { EXECUTOR_MCP_URL, EXECUTOR_API_KEY } = process.env;
await runBridge({
  url: EXECUTOR_MCP_URL?.trim() || "http://127.0.0.1:8788/mcp",
  token: EXECUTOR_API_KEY?.trim() || null,
  input: process.stdin,
  write: (line) => process.stdout.write(`${line}\n`),
  log: (line) => process.stderr.write(`executor mcp: ${line}\n`),
});
