/** A whole installation in a temporary directory: a real server, a real worker, and an HTTP client of its owner. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Child, readTreePssMb, startChild } from "./child-process.ts";

export interface Api {
  baseUrl: string;
  token: string;
  workspaceId: string;
  /** Answers with the parsed body; any status over 299 is an error. */
  request<T>(method: "GET" | "POST", path: string, body?: unknown): Promise<T>;
}

export interface TaskAnswer {
  taskId: string;
  status: string;
  result?: unknown;
  error?: { code: string; message: string };
  pending?: { interactionId: string }[];
}

export interface Installation {
  home: string;
  owner: Api;
  server: Child;
  worker: Child;
  /** A client with a workspace of its own. */
  newSession(): Promise<Api>;
  pssMb(): number;
  close(): Promise<void>;
}

export interface InstallationOptions {
  /** Wires the unsafe tool. */
  benchWorker?: boolean;
  env?: Record<string, string>;
}

const fromRoot = (path: string): string => join(import.meta.dir, "../..", path);
/** What `npm start` runs. */
export const serverMain = fromRoot("apps/server/src/main.ts");
export const workerMain = fromRoot("apps/worker/src/main.ts");
export const apiServerMain = fileURLToPath(import.meta.resolve("./api-server.ts"));
export const bareServerMain = fileURLToPath(import.meta.resolve("./bare-server.ts"));
const benchWorkerMain = fileURLToPath(import.meta.resolve("./worker-main.ts"));

export async function openInstallation(options: InstallationOptions = {}): Promise<Installation> {
  const home = makeTempDir();
  const env = installationEnv(home, options.env);
  const server = startChild(serverMain, { env });
  const { port } = await server.said("server.listening");
  const worker = startChild(options.benchWorker ? benchWorkerMain : workerMain, { env });
  await worker.said("worker.started");
  const baseUrl = `http://127.0.0.1:${port}`;
  const owner = readOwner(home, baseUrl);
  return {
    home,
    owner,
    server,
    worker,
    async newSession() {
      const session = await owner.request<{ sessionId: string; workspaceId: string }>(
        "POST",
        "/api/auth/anonymous/bootstrap",
        {},
      );
      return createApi(baseUrl, session.sessionId, session.workspaceId);
    },
    pssMb: () => readTreePssMb([server.pid, worker.pid]),
    async close() {
      await worker.stop();
      await server.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

const made = new Set<string>();
process.on("exit", () => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

/** Gone when the benchmark ends at the latest, also when it fails. */
export function makeTempDir(): string {
  const directory = mkdtempSync(join(tmpdir(), "executor-bench-"));
  made.add(directory);
  return directory;
}

/** Limits that guard against abuse would only measure themselves. */
export function installationEnv(home: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    EXECUTOR_HOME: home,
    EXECUTOR_PORT: "0",
    EXECUTOR_PARENT_PID: String(process.pid),
    EXECUTOR_LIMIT_REQUESTS_PER_MINUTE: "10000000",
    ...more,
  };
}

export function readOwner(home: string, baseUrl: string): Api {
  const { token, workspaceId } = JSON.parse(readFileSync(join(home, "owner-key"), "utf8")) as {
    token: string;
    workspaceId: string;
  };
  return createApi(baseUrl, token, workspaceId);
}

function createApi(baseUrl: string, token: string, workspaceId: string): Api {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return {
    baseUrl,
    token,
    workspaceId,
    async request<T>(method: "GET" | "POST", path: string, body?: unknown) {
      const response = await fetch(baseUrl + path, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      if (response.status > 299)
        throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
      return (await response.json()) as T;
    },
  };
}

export const submit = (api: Api, code: string, query = ""): Promise<TaskAnswer> =>
  api.request("POST", `/api/tasks${query}`, { workspaceId: api.workspaceId, code });

/** Submits and waits; anything but `completed` is an error, or a broken product would look fast. */
export async function runToEnd(api: Api, code: string): Promise<TaskAnswer> {
  const task = await submit(api, code, "?wait=60000");
  if (task.status !== "completed") throw new Error(`the task is ${task.status}: ${JSON.stringify(task.error)}`);
  return task;
}

export const requireApproval = (api: Api, toolPathPattern: string): Promise<unknown> =>
  api.request("POST", "/api/policies", { workspaceId: api.workspaceId, toolPathPattern, decision: "require_approval" });
