/**
 * The stand-in as a process of its own, for tests that run servers and workers against it and kill them:
 *   EXECUTOR_SERVICE_TOKEN=… bun packages/testkit/src/convex/main.ts [port]
 * Prints one line, {"url": …}, when it listens. Its data live as long as it does.
 */
import { startConvexStandIn } from "./convex-stand-in.ts";

const standIn = await startConvexStandIn({
  serviceToken: process.env.EXECUTOR_SERVICE_TOKEN ?? null,
  port: Number(process.argv[2] ?? 0),
});
console.log(JSON.stringify({ url: standIn.url }));

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, async () => {
    await standIn.stop();
    process.exit(0);
  });
}
