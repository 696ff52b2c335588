/** The product's worker, wired with points to die at and one unsafe tool, `effects.post`, that acts on the effect server. */
import { defaultLimits } from "@executor/contracts/limits";
import { createLogger } from "@executor/core/log";
import { mapLine } from "@executor/runtimes/guest/map-line";
import { createInProcessRuntime } from "@executor/runtimes/in-process/in-process-runtime";
import { openSqliteStore } from "@executor/store/sqlite/sqlite-store";
import { createSystemHost } from "@executor/store/system-host";
import { createWorker, defaultWorkerSettings } from "@executor/worker/worker";
import { createTestTools, result } from "../tools/test-tools.ts";
import { CrashPoints } from "./crash-points.ts";

const { path, socketPath, effectUrl, deadly } = JSON.parse(process.argv[2] ?? "{}") as {
  path: string;
  socketPath: string;
  effectUrl: string;
  deadly: number;
};
const points = new CrashPoints(deadly);
const host = createSystemHost();
const store = await openSqliteStore({ path, hints: { socketPath, role: "spoke" } });
const post = async (input: unknown) => {
  const response = await fetch(effectUrl, { method: "POST", body: JSON.stringify(input) });
  return result(await response.json());
};
const tools = createTestTools(() => [
  { path: "effects.post", effect: "unsafe", run: (call) => points.aroundEffect(() => post(call.input)) },
]);
const worker = createWorker({
  store: points.around(store),
  runtimes: [createInProcessRuntime()],
  providers: [tools],
  host,
  limits: defaultLimits,
  log: createLogger((line) => process.stderr.write(`${line}\n`), host.now, "warn"),
  mapLine,
  settings: { ...defaultWorkerSettings, leaseMs: 400, sweepMs: 50, pollMs: 50, drainMs: 0 },
});
await worker.start();
process.on("SIGTERM", () => void worker.stop().then(() => process.exit(0)));
