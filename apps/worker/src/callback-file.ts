/**
 * Where VMs reach the server, as the server found out: it writes this file, workers on the same machine read it. Workers
 * elsewhere are told by EXECUTOR_INTERNAL_BASE_URL.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CallbackState } from "@executor/runtimes/vercel-sandbox/vercel-sandbox-runtime";

export const noCallbackUrl: CallbackState = {
  reason:
    "There is no URL at which a VM could call back: set EXECUTOR_INTERNAL_BASE_URL to an https address that leads to the server's /internal, or let it open a Tailscale Funnel (EXECUTOR_AUTO_TAILSCALE_FUNNEL=1).",
};

const fileOf = (runDir: string): string => join(runDir, "callback.json");

export function writeCallbackFile(runDir: string, state: CallbackState | null): void {
  if (state) writeFileSync(fileOf(runDir), JSON.stringify(state), { mode: 0o600 });
  else rmSync(fileOf(runDir), { force: true });
}

/** `baseUrl`: what this process was told; it wins. */
export function createCallbackReader(runDir: string, baseUrl: string | null): () => CallbackState {
  return () => {
    if (baseUrl !== null) return { url: baseUrl };
    try {
      return JSON.parse(readFileSync(fileOf(runDir), "utf8")) as CallbackState;
    } catch {
      return noCallbackUrl;
    }
  };
}
