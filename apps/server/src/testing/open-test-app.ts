/**
 * The whole app over a real SQLite store in a temporary folder, for tests. No worker runs: a test plays the worker with
 * the store's own verbs (testing/stand-in-worker.ts).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Problem } from "@executor/contracts/error";
import type { CreatedKey, Session } from "@executor/contracts/identity";
import { defaultLimits, type Limits } from "@executor/contracts/limits";
import type { Role } from "@executor/contracts/role";
import { createLogger } from "@executor/core/log";
import type { Store } from "@executor/core/ports/store";
import { openSqliteStore } from "@executor/store/sqlite/sqlite-store";
import { createSystemHost } from "@executor/store/system-host";
import { createTypeChecker } from "@executor/typecheck/type-checker";
import { openSources, type OpenSources } from "@executor/worker/open-sources";
import { createApp } from "../app.ts";
import type { AppDeps } from "../deps.ts";
import { createSignIns } from "../credentials/sign-ins.ts";
import type { ServerEnv } from "../env.ts";

export const testHost = "127.0.0.1:8788";

export interface Call {
  token?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface TestApp {
  deps: AppDeps;
  store: Store;
  logs: string[];
  fetch(request: Request): Promise<Response>;
  call(method: string, path: string, options?: Call): Promise<Response>;
  /** The answer as JSON; its status must be the expected one. */
  json<T>(method: string, path: string, status: number, options?: Call): Promise<T>;
  problem(method: string, path: string, options?: Call): Promise<Problem>;
  session(): Promise<Session>;
  key(admin: Session, role: Role): Promise<CreatedKey>;
  /** Reads the sources that are due, as the server does in the background. */
  readSources(): Promise<void>;
  stop(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface TestOptions {
  limits?: Partial<Limits>;
  env?: Partial<ServerEnv>;
  deps?: Partial<AppDeps>;
}

export async function openTestApp(options: TestOptions = {}): Promise<TestApp> {
  const folder = mkdtempSync(join(tmpdir(), "executor-server-"));
  const store = await openSqliteStore({ path: join(folder, "executor.db") });
  const logs: string[] = [];
  const stopping = new AbortController();
  const host = createSystemHost();
  const log = createLogger((line) => logs.push(line), host.now);
  const opened = openSources({
    installation: { home: folder, runDir: folder },
    environment: {},
    store,
    host,
    log,
    limits: defaultLimits,
    version: "0.0.0-test",
  });
  const typeChecker = createTypeChecker({ idleMs: 500 });
  const deps = {
    ...testDeps({ store, host, log, opened, shutdown: stopping.signal, typeChecker }, options),
    ...options.deps,
  };
  const app = createApp(deps);
  const fetchApp = async (request: Request): Promise<Response> => await app.fetch(request, {});

  const call: TestApp["call"] = (method, path, { token, body, headers, signal } = {}) => {
    const init: RequestInit = {
      method,
      headers: {
        host: testHost,
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    };
    return fetchApp(new Request(`http://${testHost}${path}`, init));
  };
  const json = async <T>(method: string, path: string, status: number, given?: Call): Promise<T> => {
    const response = await call(method, path, given);
    const text = await response.text();
    if (response.status !== status)
      throw new Error(`${method} ${path}: expected ${status}, got ${response.status}: ${text}`);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  };

  return {
    deps,
    store,
    logs,
    fetch: fetchApp,
    call,
    json,
    problem: async (method, path, given) => (await (await call(method, path, given)).json()) as Problem,
    session: () => json<Session>("POST", "/api/auth/anonymous/bootstrap", 201, { body: {} }),
    key: (admin, role) =>
      json<CreatedKey>("POST", "/api/keys", 201, {
        token: admin.sessionId,
        body: { workspaceId: admin.workspaceId, role, label: role },
      }),
    readSources: async () => {
      const reader = opened.startReader();
      await reader.idle();
      await reader.stop();
    },
    stop: () => stopping.abort(),
    async [Symbol.asyncDispose]() {
      stopping.abort();
      typeChecker.close();
      await opened.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface TestParts extends Pick<AppDeps, "store" | "host" | "log" | "shutdown" | "typeChecker"> {
  opened: OpenSources;
}

function testDeps({ opened, ...parts }: TestParts, { limits, env }: TestOptions): AppDeps {
  const { store, host } = parts;
  return {
    ...parts,
    limits: { ...defaultLimits, ...limits },
    runtimes: {
      list: async () => [
        { id: "in-process", label: "In process", description: "for tests", available: true },
        { id: "process", label: "Process", description: "for tests", available: false, reason: "nothing confines it" },
      ],
    },
    tools: opened.provider,
    sources: {
      ...opened,
      signIns: (redirectBase) => createSignIns({ ...opened, store, host, redirectBase, clientDocumentUrl: null }),
    },
    transpile: (code) =>
      code.includes("SYNTAX")
        ? { ok: false, message: "Unexpected SYNTAX", line: 2, column: 3 }
        : { ok: true, script: code, preludeVersion: 1 },
    env: {
      host: "127.0.0.1",
      port: 8788,
      isLoopback: true,
      publicUrl: null,
      oauthClientUrl: null,
      allowedHosts: [],
      anonymous: true,
      autoExecute: false,
      parentPid: null,
      mcp: { requireAuth: false, callWaitMs: 2_000, oauth: null },
      toolSources: [],
      ...env,
    },
    localWorkspaceId: () => null,
    version: "0.0.0-test",
    instance: "test",
    callbackHosts: () => ["machine.tail1234.ts.net"],
    webRoot: null,
  };
}
