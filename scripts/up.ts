/**
 * Runs the product for `npm start`: the server and a worker, until told to stop.
 * It decides which processes there are and says when they are ready; supervise.ts keeps them alive.
 * It looks at their configuration only to refuse a wrong one once, instead of letting each of them do so.
 */
import { homedir } from "node:os";
import { readServerEnv } from "../apps/server/src/env.ts";
import { readWorkerEnv } from "../apps/worker/src/env.ts";
import { buildWeb } from "./build-web.ts";
import { announceReady } from "./ready.ts";
import { supervise, type ChildSpec } from "./supervise.ts";

/** sysexits: the configuration is wrong, starting again will not help. */
const EXIT_CONFIG = 78;

checkConfiguration();
await buildWeb();
process.exit(await supervise(productChildren()));

function checkConfiguration(): void {
  try {
    readServerEnv(process.env, process.platform, homedir());
    readWorkerEnv(process.env, process.platform, homedir());
  } catch (error) {
    console.error((error as Error).message);
    process.exit(EXIT_CONFIG);
  }
}

function productChildren(): ChildSpec[] {
  const server: ChildSpec = { name: "server", args: ["apps/server/src/main.ts"], onLine: announceReady() };
  // The server then claims tasks by itself; a second claimant would be harmless, but is not what was asked for.
  if (process.env["EXECUTOR_SERVER_AUTO_EXECUTE"] === "1") return [server];
  return [server, { name: "worker", args: ["apps/worker/src/main.ts"], without: ["EXECUTOR_TOOL_SOURCES"] }];
}
