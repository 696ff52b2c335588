/**
 * A `tailscale` for tests: a program on a PATH of its own that keeps its configuration in a file and fails in the ways the
 * real one does. It exposes nothing; whether a URL answers is the test's to say.
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type TailscaleMode = "ok" | "daemon-down" | "logged-out" | "not-enabled" | "blocks" | "access-denied";

export interface TailscaleState {
  mode: TailscaleMode;
  /** As `funnel status --json` prints it. */
  config: Record<string, unknown>;
}

export const fakeHost = "machine.tail1234.ts.net";

export class FakeTailscale {
  /** To be put on a PATH. */
  readonly folder = mkdtempSync(join(tmpdir(), "executor-tailscale-"));

  constructor(state: TailscaleState) {
    writeFileSync(join(this.folder, "state.json"), JSON.stringify(state));
    const program = join(this.folder, "tailscale");
    const main = join(import.meta.dir, "fake-tailscale-main.ts");
    writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${main}" "${this.folder}" "$@"\n`);
    chmodSync(program, 0o755);
  }

  get config(): Record<string, unknown> {
    return (JSON.parse(readFileSync(join(this.folder, "state.json"), "utf8")) as TailscaleState).config;
  }

  /** The commands it was given, one a line. */
  get commands(): string[] {
    const path = join(this.folder, "log");
    return existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n") : [];
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
