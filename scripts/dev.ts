/**
 * Runs server, worker and console for development: the same processes as up.ts, restarted on every change of a source file.
 * The console has an address of its own, where changes show at once; the server serves the one that was built.
 */
import { buildWeb } from "./build-web.ts";
import { announceReady } from "./ready.ts";
import { supervise } from "./supervise.ts";

await buildWeb();
process.exit(
  await supervise([
    { name: "server", args: ["--watch", "apps/server/src/main.ts"], onLine: announceReady() },
    { name: "worker", args: ["--watch", "apps/worker/src/main.ts"] },
    { name: "web", args: ["apps/web/src/dev.ts"] },
  ]),
);
