/**
 * Makes known where VMs call back: the URL that was configured, or a Funnel's once it works. Workers of this machine read it
 * from a file, the server itself by `read`.
 */
import { createCallbackReader, noCallbackUrl, writeCallbackFile } from "@executor/worker/callback-file";
import type { CallbackState } from "@executor/runtimes/vercel-sandbox/vercel-sandbox-runtime";
import { openFunnel, type FunnelOptions } from "./open-funnel.ts";
import type { CallbackEnv } from "./read-callback-env.ts";

export interface CallbackOffer {
  read(): CallbackState;
  /** Once the port is known. */
  start(port: number): void;
  close(): Promise<void>;
}

export function offerCallback(
  { vercel, funnel, hasInternalToken }: CallbackEnv,
  options: Omit<FunnelOptions, "port" | "onState">,
): CallbackOffer {
  const { runDir, log } = options;
  let opened: { close(): Promise<void> } | null = null;
  if (hasInternalToken)
    log.warn("internal_token.unused", {
      why: "EXECUTOR_INTERNAL_TOKEN has no effect: each run has a token of its own",
    });
  return {
    read: createCallbackReader(runDir, vercel.baseUrl),
    start(port) {
      writeCallbackFile(runDir, vercel.baseUrl === null ? noCallbackUrl : { url: vercel.baseUrl });
      if (funnel) opened = openFunnel({ ...options, port, onState: (state) => writeCallbackFile(runDir, state) });
    },
    async close() {
      await opened?.close();
      writeCallbackFile(runDir, null);
    },
  };
}
