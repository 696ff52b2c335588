/** The floors that several figures share, opened together: bare HTTP in a process of its own, bare store, bare engine. */
import { rmSync } from "node:fs";
import { BareEngine } from "./bare-engine.ts";
import { BareStore } from "./bare-store.ts";
import { startChild } from "./child-process.ts";
import { bareServerMain, makeTempDir } from "./installation.ts";

export interface BareFloor {
  store: BareStore;
  engine: BareEngine;
  /** One request and its reply. */
  request(code: string): Promise<void>;
  close(): Promise<void>;
}

export async function openBareFloor(): Promise<BareFloor> {
  const directory = makeTempDir();
  const store = new BareStore(directory);
  const server = startChild(bareServerMain);
  const { port } = await server.said("server.listening");
  return {
    store,
    engine: new BareEngine(),
    async request(code) {
      const headers = { "content-type": "application/json", authorization: `Bearer ${"x".repeat(40)}` };
      const response = await fetch(`http://127.0.0.1:${port}/`, {
        method: "POST",
        headers,
        body: JSON.stringify({ code }),
      });
      await response.json();
    },
    async close() {
      await server.stop();
      store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
