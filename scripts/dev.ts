/**
 * Runs server, worker and web page for development: the same processes as up.ts, restarted on every change of a source file.
 */
import { announceReady } from "./ready.ts";
import { supervise } from "./supervise.ts";

process.exit(
  await supervise([
    { name: "server", args: ["--watch", "apps/server/src/main.ts"], onLine: announceReady() },
    { name: "worker", args: ["--watch", "apps/worker/src/main.ts"] },
    { name: "web", args: ["--watch", "apps/web/src/dev.ts"] },
  ]),
);
