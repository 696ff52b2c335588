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
  /** What guests call this server. */
  hosts(): readonly string[];
  /** Once the port is known. */
  start(port: number): void;
  close(): Promise<void>;
}

export function offerCallback(
  { vercel, funnel, hasInternalToken }: CallbackEnv,
  options: Omit<FunnelOptions, "port" | "onState" | "onUrl">,
): CallbackOffer {
  const { runDir, log } = options;
  let urls = vercel.baseUrl === null ? [] : [vercel.baseUrl];
  let opened: { close(): Promise<void> } | null = null;
  if (hasInternalToken)
    log.warn("internal_token.unused", {
      why: "EXECUTOR_INTERNAL_TOKEN has no effect: each run has a token of its own",
    });
  return {
    read: createCallbackReader(runDir, vercel.baseUrl),
    hosts: () => urls.map((url) => new URL(url).host),
    start(port) {
      writeCallbackFile(runDir, vercel.baseUrl === null ? noCallbackUrl : { url: vercel.baseUrl });
      const onState = (state: CallbackState): void => writeCallbackFile(runDir, state);
      if (funnel) opened = openFunnel({ ...options, port, onState, onUrl: (url) => (urls = [url]) });
    },
    async close() {
      await opened?.close();
      writeCallbackFile(runDir, null);
    },
  };
}
