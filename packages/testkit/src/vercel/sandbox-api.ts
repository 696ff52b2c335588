/**
 * A loopback stand-in of Vercel's Sandbox API, from what was measured of the real one: made for the real SDK. A "VM" is a
 * temporary directory, a command in it a real process with an environment made from nothing. It can be told to misbehave.
 * It cannot confine a process to a network policy: tests look at the policy that was asked for.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const fakeCredentials = { token: "vercel-token", teamId: "team_1", projectId: "prj_1", expiresAt: null };

const LATE_MS = 2_000;

export interface FakeSandbox {
  name: string;
  sessionId: string;
  cwd: string;
  status: "running" | "stopped";
  /** The body it was made with. */
  asked: Record<string, unknown>;
  commands: FakeCommand[];
}
interface FakeCommand {
  id: string;
  command: string;
  args: string[];
  startedAt: number;
  child: Bun.Subprocess<"ignore", "pipe", "pipe">;
  text: Promise<string>;
}

/** What it does to the next request whose "METHOD /path" the pattern fits. */
export interface Mishap {
  on: RegExp;
  /**
   * `drop`: carried out, and the connection is cut before the answer. `late`: cut, and carried out a while after. Otherwise not
   * carried out, and answered with the status.
   */
  how: "drop" | "late" | { status: number; code: string; message: string };
  times: number;
}

class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export class SandboxApi {
  readonly url: string;
  /** Every one ever made, deleted ones too. */
  readonly made: FakeSandbox[] = [];
  /** Those that exist. */
  readonly sandboxes = new Map<string, FakeSandbox>();
  /** "METHOD /path" of all requests. */
  readonly requests: string[] = [];
  readonly mishaps: Mishap[] = [];
  readonly #server: Server;
  #nextId = 1;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
    server.on("request", (request, response) => void this.#serve(request, response));
  }

  static async start(): Promise<SandboxApi> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new SandboxApi(server);
  }

  /** How often the runner was started, in all VMs. */
  get commandCount(): number {
    return this.made.reduce((sum, { commands }) => sum + commands.length, 0);
  }

  /** What the commands of all VMs wrote and where they stand, for a test that fails. */
  async report(): Promise<string> {
    const lines = this.made.flatMap(({ name, commands }) =>
      commands.map(
        async ({ child, text }) => `${name}: ${child.exitCode ?? "runs"} ${child.exitCode === null ? "" : await text}`,
      ),
    );
    return [...this.requests.slice(-30), ...(await Promise.all(lines))].join("\n");
  }

  /** The VM is gone from one moment to the next, as when its host dies or its time is over. */
  lose(sandbox: FakeSandbox): void {
    sandbox.status = "stopped";
    for (const { child } of sandbox.commands) child.kill("SIGKILL");
  }

  async stop(): Promise<void> {
    for (const sandbox of this.made) this.#remove(sandbox);
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://fake");
    const line = `${request.method} ${url.pathname.replace(/^\/api/, "")}`;
    this.requests.push(line);
    const mishap = this.mishaps.find(({ on, times }) => times > 0 && on.test(line));
    if (mishap) mishap.times--;
    let status = 200;
    let body: unknown;
    try {
      const bytes = await readBody(request);
      if (request.headers.authorization !== `Bearer ${fakeCredentials.token}` && !isOidc(request.headers.authorization))
        throw new ApiError(403, "forbidden", "Not authorized");
      if (mishap?.how === "late") {
        request.socket.destroy();
        await Bun.sleep(LATE_MS);
      }
      if (mishap && typeof mishap.how === "object")
        throw new ApiError(mishap.how.status, mishap.how.code, mishap.how.message);
      body = await this.#answer(line, request, bytes);
    } catch (error) {
      const known = error instanceof ApiError ? error : new ApiError(500, "internal", String(error));
      status = known.status;
      body = { error: { code: known.code, message: known.message } };
    }
    if (mishap && typeof mishap.how !== "object") return void request.socket.destroy();
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  }

  async #answer(line: string, request: IncomingMessage, bytes: Buffer): Promise<unknown> {
    const [method = "", path = ""] = line.split(" ");
    const json = (): Record<string, unknown> => (bytes.length === 0 ? {} : JSON.parse(bytes.toString("utf8")));
    if (method === "POST" && /^\/v[23]\/sandboxes$/.test(path)) return this.#create(json());
    const session = /^\/v2\/sandboxes\/sessions\/([^/]+)(.*)$/.exec(path);
    if (session)
      return await this.#answerSession(
        method,
        this.#bySession(session[1] ?? ""),
        session[2] ?? "",
        request,
        bytes,
        json,
      );
    const sandbox = this.sandboxes.get(decodeURIComponent(/^\/v2\/sandboxes\/([^/]+)$/.exec(path)?.[1] ?? ""));
    if (!sandbox) throw new ApiError(404, "not_found", "Sandbox not found");
    const described = describe(sandbox);
    if (method === "DELETE") this.#remove(sandbox);
    return described;
  }

  async #answerSession(
    method: string,
    sandbox: FakeSandbox,
    rest: string,
    request: IncomingMessage,
    bytes: Buffer,
    json: () => Record<string, unknown>,
  ): Promise<unknown> {
    if (method === "GET" && rest === "") return describe(sandbox);
    if (sandbox.status !== "running") throw new ApiError(410, "sandbox_stopped", "Sandbox has stopped");
    if (rest === "/fs/write") return await unpack(bytes, String(request.headers["x-cwd"]));
    if (rest === "/cmd" && method === "POST") return { command: toCommand(sandbox, this.#run(sandbox, json())) };
    if (rest === "/extend-timeout") return describe(sandbox);
    if (rest === "/stop") {
      this.lose(sandbox);
      return describe(sandbox);
    }
    const command = sandbox.commands.find(({ id }) => rest === `/cmd/${id}`);
    if (!command) throw new ApiError(404, "not_found", `No ${rest}`);
    return { command: toCommand(sandbox, command) };
  }

  #create(asked: Record<string, unknown>): unknown {
    const name = String(asked["name"]);
    if (this.sandboxes.has(name)) throw new ApiError(409, "conflict", "There is a sandbox of this name");
    const sandbox: FakeSandbox = {
      name,
      sessionId: `sess_${this.#nextId++}`,
      cwd: mkdtempSync(join(tmpdir(), "executor-vm-")),
      status: "running",
      asked,
      commands: [],
    };
    this.sandboxes.set(name, sandbox);
    this.made.push(sandbox);
    return describe(sandbox);
  }

  #run(sandbox: FakeSandbox, { command, args }: Record<string, unknown>): FakeCommand {
    const list = args as string[];
    const child = Bun.spawn([String(command), ...list], {
      cwd: sandbox.cwd,
      env: { PATH: process.env["PATH"] ?? "", HOME: sandbox.cwd },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const text = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]).then((all) =>
      all.join(""),
    );
    const ran = {
      id: `cmd_${this.#nextId++}`,
      command: String(command),
      args: list,
      startedAt: Date.now(),
      child,
      text,
    };
    sandbox.commands.push(ran);
    return ran;
  }

  #remove(sandbox: FakeSandbox): void {
    this.lose(sandbox);
    this.sandboxes.delete(sandbox.name);
    rmSync(sandbox.cwd, { recursive: true, force: true });
  }

  #bySession(id: string): FakeSandbox {
    const found = [...this.sandboxes.values()].find(({ sessionId }) => sessionId === id);
    if (!found) throw new ApiError(404, "not_found", "Session not found");
    return found;
  }
}

function describe({ name, sessionId, cwd, status }: FakeSandbox): unknown {
  const now = Date.now();
  const times = { createdAt: now, updatedAt: now };
  return {
    sandbox: { name, persistent: false, currentSessionId: sessionId, status, ...times },
    session: {
      id: sessionId,
      memory: 2_048,
      vcpus: 1,
      region: "iad1",
      timeout: 300_000,
      status,
      requestedAt: now,
      cwd,
      ...times,
    },
    routes: [],
  };
}

function toCommand({ sessionId, cwd }: FakeSandbox, { id, command, args, startedAt, child }: FakeCommand): unknown {
  return {
    id,
    name: command,
    args,
    cwd,
    sessionId,
    exitCode: child.exitCode ?? (child.signalCode ? 137 : null),
    startedAt,
  };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Entries are relative to the directory, as the SDK writes them; the "VM" is not chrooted, so they are absolute in effect. */
async function unpack(archive: Buffer, directory: string): Promise<object> {
  const tar = Bun.spawn(["tar", "-xzf", "-", "--no-same-owner", "-C", directory], {
    stdin: archive,
    stdout: "ignore",
    stderr: "pipe",
  });
  if ((await tar.exited) !== 0) throw new ApiError(400, "bad_archive", await new Response(tar.stderr).text());
  return {};
}

const isOidc = (authorization: string | undefined): boolean =>
  /^Bearer [\w-]+\.[\w-]+\.[\w-]+$/.test(authorization ?? "");
