/** What the server is made of. main.ts chooses the real ones, tests choose theirs; nothing below reads a global. */
import type { Limits } from "@executor/contracts/limits";
import type { RuntimeTarget } from "@executor/contracts/tool";
import type { Logger } from "@executor/core/log";
import type { Host } from "@executor/core/ports/host";
import type { Store } from "@executor/core/ports/store";
import type { ToolProvider } from "@executor/core/ports/tools";
import type { CredentialDesk } from "@executor/core/credentials/credential-desk";
import type { SourceService } from "@executor/sources/source-service";
import type { Vault } from "@executor/vault/create-providers";
import type { TypeChecker } from "@executor/typecheck/type-checker";
import type { SignIns } from "./credentials/sign-ins.ts";
import type { ServerEnv } from "./env.ts";

export interface ServerSources {
  service: SourceService;
  desk: CredentialDesk;
  vault: Pick<Vault, "sealer">;
  /** `redirectBase`: where a provider sends people back to. */
  signIns(redirectBase: string): SignIns;
}

export interface AppDeps {
  store: Store;
  host: Host;
  limits: Limits;
  runtimes: { list(): Promise<RuntimeTarget[]> };
  /** Tools of the connected sources; what is built in comes on top. */
  tools: ToolProvider;
  /** What stands behind them: sources, credentials, sign-ins. */
  sources: ServerSources;
  transpile(code: string): Transpiled | Promise<Transpiled>;
  /** Of the installation's owner; null while there is none. */
  localWorkspaceId(): string | null;
  typeChecker: Pick<TypeChecker, "check">;
  env: ServerEnv;
  log: Logger;
  version: string;
  /** A word that only this process answers with; see internal/guest-routes.ts. */
  instance: string;
  /** By which hosts guests in VMs call. */
  callbackHosts(): readonly string[];
  /** Folder of the console's files; null serves none. */
  webRoot: string | null;
  /** Ends open streams and waits. */
  shutdown: AbortSignal;
}

export type Transpiled =
  | { ok: true; script: string; preludeVersion: number }
  | { ok: false; message: string; line: number; column: number };
