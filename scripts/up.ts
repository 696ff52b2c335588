/**
 * Runs the product for `npm start`: the server and a worker, until told to stop.
 * It decides which processes there are and says when they are ready; supervise.ts keeps them alive.
 * It never reads their configuration beyond what the friendly line needs: the environment is passed on as it is.
 */
import { announceReady } from "./ready.ts";
import { supervise, type ChildSpec } from "./supervise.ts";

await buildWeb();
process.exit(await supervise(productChildren()));

/** The page in apps/web/public is served as it is. When the console needs a build step, it goes here and nowhere else. */
async function buildWeb(): Promise<void> {}

function productChildren(): ChildSpec[] {
  const server: ChildSpec = { name: "server", args: ["apps/server/src/main.ts"], onLine: announceReady() };
  // The server then claims tasks by itself; a second claimant would be harmless, but is not what was asked for.
  if (process.env["EXECUTOR_SERVER_AUTO_EXECUTE"] === "1") return [server];
  return [server, { name: "worker", args: ["apps/worker/src/main.ts"] }];
}
