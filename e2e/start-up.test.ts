/** How an installation starts, or refuses to with one clear message and exit code 78; and settings that change its doors. */
import { Database } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  environmentOn,
  type Installation,
  newHome,
  spawnServer,
  spawnWorker,
  startInstallation,
} from "@executor/testkit/installation/start-installation";
import { ask, signIn } from "./support/api.ts";
import { openSse } from "./support/read-sse.ts";
import { until } from "./support/until.ts";

const started: Installation[] = [];
const homes: string[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((each) => each.stop()));
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
});

async function start(...options: Parameters<typeof startInstallation>): Promise<Installation> {
  const installation = await startInstallation(...options);
  started.push(installation);
  return installation;
}

function makeHome(): string {
  const home = newHome();
  homes.push(home);
  return home;
}

test("a second server on the same data directory refuses to start, and the first one does not notice", async () => {
  const first = await start({ workers: 0 });
  const second = await spawnServer(environmentOn(first.home)).finish();
  expect(second.code).toBe(78);
  expect(second.stderr).toContain(`process ${first.server.pid}`);
  expect(second.stderr).toContain("EXECUTOR_HOME");
  expect(second.stderr).not.toMatch(/\bat .*\.ts:\d+/);
  await signIn(first);
  await first.killServer();
  await first.startServer();
  await signIn(first);
});

test("of several servers that start on one directory at once, exactly one runs", async () => {
  const home = makeHome();
  const servers = Array.from({ length: 4 }, () => spawnServer(environmentOn(home)));
  const ends = servers.map((server) =>
    Promise.race([
      server.exited,
      server
        .waitForLine(({ msg }) => msg === "server.listening")
        .then(
          () => "runs",
          () => server.exited,
        ),
    ]),
  );
  const results = await Promise.all(ends);
  for (const server of servers) server.kill("SIGTERM");
  await Promise.all(servers.map((server) => server.exited));
  expect(results.toSorted().map(String)).toEqual(["78", "78", "78", "runs"]);
});

test("a port that is taken is named", async () => {
  const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("other") });
  try {
    const { code, stderr } = await spawnServer(
      environmentOn(makeHome(), { EXECUTOR_PORT: String(other.port) }),
    ).finish();
    expect(code).toBe(78);
    expect(stderr).toContain(`127.0.0.1:${other.port}`);
    expect(stderr).toContain("EXECUTOR_PORT");
    expect(stderr).not.toMatch(/\bat .*\.ts:\d+/);
  } finally {
    await other.stop(true);
  }
});

test("a setting that cannot be is refused by server and worker, with its name", async () => {
  const bad: [string, string, ("server" | "worker")[]][] = [
    ["EXECUTOR_PORT", "70000", ["server"]],
    ["EXECUTOR_HOST", "not a host", ["server"]],
    ["EXECUTOR_PUBLIC_URL", "ftp://x", ["server"]],
    ["EXECUTOR_ANONYMOUS", "maybe", ["server"]],
    ["EXECUTOR_HOME", "relative/path", ["server", "worker"]],
    ["EXECUTOR_LIMIT_CPU_MS", "1", ["server", "worker"]],
    ["EXECUTOR_LIMIT_CPU_MSS", "1000", ["server", "worker"]],
    ["EXECUTOR_WORKER_LEASE_MS", "ten", ["worker"]],
    ["EXECUTOR_WORKER_CONCURRENCY", "0", ["worker"]],
    ["CONVEX_URL", "not-a-url", ["server", "worker"]],
  ];
  const runs = bad.flatMap(([name, value, who]) =>
    who.map((each) => ({ name, each, spawn: each === "server" ? spawnServer : spawnWorker, env: { [name]: value } })),
  );
  for (const { name, each, spawn, env } of [
    ...runs,
    {
      name: "EXECUTOR_CONVEX_SERVICE_TOKEN",
      each: "server",
      spawn: spawnServer,
      env: { CONVEX_URL: "http://127.0.0.1:1" },
    },
  ]) {
    const { code, stderr } = await spawn(environmentOn(makeHome(), env)).finish();
    expect([name, each, code]).toEqual([name, each, 78]);
    expect(stderr).toContain(name);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  }
});

test("data of a newer version is refused, and left as it is", async () => {
  const first = await start({ workers: 0 });
  await first.killServer();
  const path = join(first.home, "executor.db");
  const change = new Database(path);
  change.run("PRAGMA user_version = 9999");
  change.close();
  for (const spawn of [spawnServer, spawnWorker]) {
    const { code, stderr } = await spawn(environmentOn(first.home)).finish();
    expect(code).toBe(78);
    expect(stderr).toContain("store.newer_schema");
    expect(stderr).toContain("9999");
    expect(stderr).not.toMatch(/\bat .*\.ts:\d+/);
  }
  const look = new Database(path, { readonly: true });
  expect(look.query("PRAGMA user_version").get()).toEqual({ user_version: 9999 });
  look.close();
});

test("a server told to stop the moment it is ready stops in order, and leaves no lock", async () => {
  for (let round = 0; round < 6; round++) {
    const installation = await start({ workers: 0 });
    installation.server.kill("SIGTERM");
    expect(await installation.server.exited).toBe(0);
    expect(existsSync(join(installation.home, "server.lock"))).toBe(false);
  }
});

test("a server told to stop ends its streams and answers what waits, within seconds", async () => {
  const installation = await start({ workers: 0 });
  const person = await signIn(installation);
  const stream = await openSse(`${installation.url}/api/events`, person.token);
  const waiting = person.ask("POST /api/tasks?wait=60000", {
    body: { code: "return 1", workspaceId: person.workspaceId },
  });
  await until("the task", async () => (await person.executor.tasks.list()).items.length === 1);
  const startedAt = Date.now();
  installation.server.kill("SIGTERM");
  expect([(await waiting).status, (await waiting).body["status"]]).toEqual([201, "queued"]);
  await stream.ended;
  expect(await installation.server.exited).toBe(0);
  expect(Date.now() - startedAt).toBeLessThan(5_000);
});

test("a damaged database or owner key is refused with its path, never replaced", async () => {
  const home = makeHome();
  writeFileSync(join(home, "executor.db"), "this is no database, and longer than a header needs to be ".repeat(50));
  const broken = await spawnServer(environmentOn(home)).finish();
  expect(broken.code).not.toBe(0);
  expect(broken.stderr).toContain("executor.db");
  const other = makeHome();
  writeFileSync(join(other, "owner-key"), "{}", { mode: 0o600 });
  const refused = await spawnServer(environmentOn(other)).finish();
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("owner-key");
});

test("a data directory that others could read is closed, and one that cannot be made is named", async () => {
  const home = makeHome();
  chmodSync(home, 0o755);
  const installation = await start({ workers: 0, home });
  expect((statSync(join(home, "executor.db")).mode & 0o077).toString(8)).toBe("0");
  expect((statSync(join(home, "owner-key")).mode & 0o077).toString(8)).toBe("0");
  await installation.stop();
  const file = join(makeHome(), "file");
  writeFileSync(file, "");
  const { code, stderr } = await spawnServer(environmentOn(join(file, "below"))).finish();
  expect(code).toBe(78);
  expect(stderr).toContain(file);
});

test("a home with spaces, dots and a long name works, hints and all", async () => {
  const home = join(makeHome(), "a b", "ü.d", "x".repeat(100));
  mkdirSync(home, { recursive: true });
  const installation = await start({ home });
  const { executor } = await signIn(installation);
  expect(await executor.tasks.run<number>("return 6 * 7")).toBe(42);
});

test("on a bind that others can reach, anonymous sessions are off unless asked for", async () => {
  const closed = await start({ workers: 0, env: { EXECUTOR_HOST: "0.0.0.0" } });
  const refused = await ask(closed.url, "POST /api/auth/anonymous/bootstrap", { body: {} });
  expect([refused.status, refused.body.code]).toEqual([403, "auth.anonymous_off"]);
  expect((await ask(closed.url, "GET /api/health", { headers: { host: `0.0.0.0:${closed.port}` } })).status).toBe(403);
  const open = await start({ workers: 0, env: { EXECUTOR_HOST: "0.0.0.0", EXECUTOR_ANONYMOUS: "1" } });
  expect((await ask(open.url, "POST /api/auth/anonymous/bootstrap", { body: {} })).status).toBe(201);
  const shut = await start({ workers: 0, env: { EXECUTOR_ANONYMOUS: "0" } });
  expect((await ask(shut.url, "POST /api/auth/anonymous/bootstrap", { body: {} })).status).toBe(403);
});

test("the owner's key works on a closed installation, and is the same after a restart", async () => {
  const installation = await start({ workers: 0, env: { EXECUTOR_ANONYMOUS: "0" } });
  const read = async () => ((await Bun.file(join(installation.home, "owner-key")).json()) as { token: string }).token;
  const token = await read();
  expect((await ask(installation.url, "GET /api/auth/me", { token })).body).toMatchObject({
    role: "admin",
    installationAdmin: true,
  });
  await installation.killServer();
  await installation.startServer();
  expect(await read()).toBe(token);
  expect((await ask(installation.url, "GET /api/auth/me", { token })).status).toBe(200);
});

test("too many requests with one key are told when to come back; others are still served", async () => {
  const installation = await start({
    workers: 0,
    env: { EXECUTOR_LIMIT_REQUESTS_PER_MINUTE: "20", EXECUTOR_LIMIT_BOOTSTRAPS_PER_MINUTE: "3" },
  });
  const [greedy, other] = [await signIn(installation), await signIn(installation)];
  const answers = await Promise.all(Array.from({ length: 30 }, () => greedy.ask("GET /api/auth/me")));
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(20);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThanOrEqual(8);
  for (const { headers, body } of refused) {
    expect(body.code).toBe("request.rate_limited");
    expect(Number(headers.get("retry-after"))).toBeWithin(1, 10);
  }
  expect((await other.ask("GET /api/auth/me")).status).toBe(200);
  const sessions = await Promise.all(
    Array.from({ length: 4 }, () => ask(installation.url, "POST /api/auth/anonymous/bootstrap", { body: {} })),
  );
  expect(sessions.map(({ status }) => status).toSorted()).toEqual([201, 429, 429, 429]);
});
