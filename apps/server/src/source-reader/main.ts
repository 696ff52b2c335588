/**
 * The process that reads sources: fetches documents, parses and indexes them, stores what came out. Apart from the server, so that
 * a large or hostile document neither stops the server's clock nor leaves its memory behind. Started by keep-sources-read.ts when a
 * source is due; ends by itself when none has been for a while.
 */
import { homedir } from "node:os";
import { createLogger } from "@executor/core/log";
import { dieWithParent } from "@executor/runtimes/in-process/die-with-parent";
import { listenForStop } from "@executor/store/listen-for-stop";
import { openStore } from "@executor/store/open-store";
import { createSystemHost } from "@executor/store/system-host";
import { openSources } from "@executor/worker/open-sources";
import about from "../../package.json" with { type: "json" };
import { readServerEnv } from "../env.ts";
import { ALIVE, BEAT_MS } from "./beat.ts";

const IDLE_MS = 20_000;
const LOOK_MS = 1_000;

async function main(): Promise<void> {
  const { server, installation } = readServerEnv(process.env, process.platform, homedir());
  const host = createSystemHost();
  const log = createLogger((line) => process.stdout.write(`${line}\n`), host.now);
  const stopAsked = listenForStop(server.parentPid);
  // The kernel's way as well: caught in a document, nothing here would notice.
  if (server.parentPid !== null) dieWithParent(server.parentPid);
  // Says that this process still turns: one that is caught in a document falls silent.
  setInterval(() => process.send?.(ALIVE), BEAT_MS);
  const store = await openStore(installation, "spoke");
  const { limits } = installation;
  const environment = process.env;
  const sources = openSources({ installation, environment, store, host, log, limits, version: about.version });
  const reader = sources.startReader();

  const idle = (async (): Promise<string> => {
    for (let idleSince = host.monotonicMs(); host.monotonicMs() - idleSince < IDLE_MS; await Bun.sleep(LOOK_MS)) {
      if (!(await store.hasDueSources({ now: host.now() }))) continue;
      await reader.idle();
      idleSince = host.monotonicMs();
    }
    return "nothing is due";
  })();
  const reason = await Promise.race([stopAsked, idle]);
  log.debug("reader.stopping", { reason });
  await reader.stop();
  await sources.close();
  await store.close();
  process.exit(0);
}

await main().catch((error: unknown) => {
  process.stderr.write(`${String((error as Error).stack ?? error)}\n`);
  process.exit(1);
});
