/**
 * Runtime `vercel-sandbox` with the real SDK against the stand-in of the API, whose VMs are real Node processes that call a real
 * server's /internal routes. Each guest gets a task of its own that a worker holds.
 */
import type { Runtime } from "@executor/core/ports/runtime";
import {
  createVercelSandboxRuntime,
  type VercelRuntimeOptions,
} from "@executor/runtimes/vercel-sandbox/vercel-sandbox-runtime";
import { type CallbackHost, startCallbackHost } from "./callback-host.ts";
import { fakeCredentials, SandboxApi } from "./sandbox-api.ts";

export interface VercelBench {
  /** Opens every guest for a new task, unless it is told for which. */
  runtime: Runtime;
  /** As it is; its programs must name a run that holds its lease. */
  bare: Runtime;
  api: SandboxApi;
  callback: CallbackHost;
  stop(): Promise<void>;
}

export async function openVercelBench(
  options: Partial<VercelRuntimeOptions> = {},
  settings: Partial<VercelRuntimeOptions["settings"]> = {},
): Promise<VercelBench> {
  const [api, callback] = await Promise.all([SandboxApi.start(), startCallbackHost()]);
  const bare = createVercelSandboxRuntime({
    store: callback.store,
    host: callback.host,
    settings: {
      credentials: fakeCredentials,
      runtime: "node22",
      image: null,
      apiUrl: api.url,
      baseUrl: null,
      graceMs: 50,
      ...settings,
    },
    readCallback: () => ({ url: callback.url }),
    checkMs: 500,
    ...options,
  });
  const runtime: Runtime = {
    ...bare,
    open: async (program, signal) => await bare.open({ ...program, fence: await callback.claim() }, signal),
  };
  return {
    runtime,
    bare,
    api,
    callback,
    async stop() {
      await bare.close();
      await api.stop();
      await callback.stop();
    },
  };
}
