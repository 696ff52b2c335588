/** The product's worker as apps/worker wires it, plus one unsafe tool that does nothing: `bench.touch`. */
import { homedir } from "node:os";
import { createLogger } from "@executor/core/log";
import { mapLine } from "@executor/runtimes/guest/map-line";
import { createInProcessRuntime } from "@executor/runtimes/in-process/in-process-runtime";
import { openStore } from "@executor/store/open-store";
import { createSystemHost } from "@executor/store/system-host";
import { createTestTools, result } from "@executor/testkit/tools/test-tools";
import { readWorkerEnv } from "../../apps/worker/src/env.ts";
import { createWorker } from "../../apps/worker/src/worker.ts";

const { worker: env, installation } = readWorkerEnv(process.env, process.platform, homedir());
const host = createSystemHost();
const log = createLogger((line) => process.stdout.write(`${line}\n`), host.now);
const store = await openStore(installation, "spoke");
const worker = createWorker({
  store,
  runtimes: [createInProcessRuntime({ runDir: installation.runDir, maxChildren: env.settings.concurrency + 2 })],
  providers: [createTestTools(() => [{ path: "bench.touch", effect: "unsafe", run: (call) => result(call.input) }])],
  host,
  limits: installation.limits,
  log,
  mapLine,
  settings: env.settings,
});
await worker.start();

async function stop(): Promise<void> {
  await worker.stop();
  await store.close();
  process.exit(0);
}
process.on("SIGTERM", () => void stop());
