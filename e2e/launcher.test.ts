/**
 * scripts/bun.mjs, driven the way a person does: through npm, in a small project of its own.
 * Most tests lend it this process's Bun by PATH, to be quick; the last makes it fetch its own, which needs the npm registry.
 */
import { afterEach, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isAlive } from "../scripts/parent.ts";

const root = join(import.meta.dir, "..");
const pinned = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).packageManager as string;
const FETCH_TIMEOUT_MS = 120_000;

const folders: string[] = [];
const started: Bun.Subprocess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

test("arguments go down; output and exit code come up; the workspace is installed", async () => {
  const project = makeProject();
  const run = await npm(project, "show", { path: withBun(project) }).done();
  expect(run.stdout).toContain("hello from p");
  expect(run.code).toBe(7);
  expect(existsSync(join(project, "node_modules/p/package.json"))).toBe(true);
});

test("a second start installs nothing, until bun.lock changes", async () => {
  const project = makeProject();
  const path = withBun(project);
  await npm(project, "show", { path }).done();
  const link = join(project, "node_modules/p");
  rmSync(link);
  expect((await npm(project, "show", { path }).done()).stdout).not.toContain("hello from p");
  writeFileSync(join(project, "bun.lock"), `${readFileSync(join(project, "bun.lock"), "utf8")}\n`);
  expect((await npm(project, "show", { path }).done()).stdout).toContain("hello from p");
});

test("SIGTERM to npm reaches the program, which may take its time to end", async () => {
  const project = makeProject();
  const run = npm(project, "wait", { path: withBun(project) });
  const pid = await pidOf(project);
  run.child.kill("SIGTERM");
  await until(() => !isAlive(pid));
  expect(existsSync(join(project, "ended-well"))).toBe(true);
});

test("SIGKILL of npm leaves nothing running", async () => {
  const project = makeProject();
  const run = npm(project, "wait", { path: withBun(project) });
  const pid = await pidOf(project);
  run.child.kill("SIGKILL");
  await until(() => !isAlive(pid));
  expect(existsSync(join(project, "ended-well"))).toBe(true);
});

test("SIGKILL of npm ends even a program that ignores SIGTERM", async () => {
  const project = makeProject();
  const run = npm(project, "stubborn", { path: withBun(project) });
  const pid = await pidOf(project);
  run.child.kill("SIGKILL");
  await until(() => !isAlive(pid));
});

test("a lock left behind by a dead launcher is broken", async () => {
  const project = makeProject();
  const lock = join(project, "node_modules/.cache/launcher.lock");
  mkdirSync(lock, { recursive: true });
  utimesSync(lock, new Date(0), new Date(0));
  const run = await npm(project, "show", { path: withBun(project) }).done();
  expect(run.stdout).toContain("hello from p");
  expect(existsSync(lock)).toBe(false);
});

test("if npm cannot fetch Bun, the message says what is needed and what to do", async () => {
  const project = makeProject();
  const offline = {
    npm_config_registry: "http://127.0.0.1:1",
    npm_config_fetch_retries: "0",
    npm_config_cache: join(project, "npm-cache"),
  };
  const run = await npm(project, "show", { path: withoutBun(project), env: offline }).done();
  expect(run.code).toBe(1);
  expect(run.stderr).toContain(`Bun ${pinned.slice(4)} is needed`);
  expect(run.stderr).toContain("ECONNREFUSED");
  expect(run.stderr).toContain("put this exact Bun on PATH");
});

test(
  "without the right Bun on PATH two launchers at once fetch one, with install scripts forbidden",
  async () => {
    const project = makeProject();
    const path = withWrongBun(project);
    const env = { npm_config_ignore_scripts: "true" };
    const runs = await Promise.all([1, 2].map(() => npm(project, "show", { path, env }).done()));
    for (const run of runs) {
      expect(run.stdout).toContain("hello from p");
      expect(run.stdout).toContain(`bun ${pinned.slice(4)}, and the same in a script`);
      expect(run.code).toBe(7);
    }
    expect(runs.filter((run) => run.stderr.includes("Fetching Bun"))).toHaveLength(1);

    const again = await npm(project, "show", { path, env }).done();
    expect(again.stderr).not.toContain("Fetching Bun");
    expect(again.code).toBe(7);
  },
  FETCH_TIMEOUT_MS,
);

/** A workspace of two packages, so that there is something to install, and nothing to download for it. */
function makeProject(): string {
  const project = mkdtempSync(join(tmpdir(), "executor-launcher-"));
  folders.push(project);
  for (const folder of ["scripts", "p", "home", "bin"]) mkdirSync(join(project, folder));
  copyFileSync(join(root, "scripts/bun.mjs"), join(project, "scripts/bun.mjs"));
  const launch = (file: string) => `exec node scripts/bun.mjs ${file}`;
  const files = {
    "package.json": JSON.stringify({
      name: "launched",
      private: true,
      packageManager: pinned,
      workspaces: ["p"],
      dependencies: { p: "workspace:*" },
      scripts: {
        show: launch("run inner"),
        wait: launch("wait.js"),
        stubborn: launch("stubborn.js"),
        inner: "bun show.js",
      },
    }),
    "p/package.json": JSON.stringify({ name: "p", version: "1.0.0" }),
    "p/index.js": 'export const hello = "hello from p";',
    "show.js": `const inScript = Bun.spawnSync(["sh", "-c", "bun --version"]).stdout.toString().trim();
      console.log("bun " + Bun.version + ", " + (inScript === Bun.version ? "and the same in a script" : "not " + inScript));
      console.log(await import("p").then((p) => p.hello, () => "p is not installed"));
      process.exit(7);`,
    "wait.js": `import { writeFileSync } from "node:fs";
      process.on("SIGTERM", () => setTimeout(() => { writeFileSync("ended-well", ""); process.exit(0); }, 200));
      setInterval(() => {}, 1000);
      writeFileSync("pid", String(process.pid));`,
    "stubborn.js": `import { writeFileSync } from "node:fs";
      process.on("SIGTERM", () => {});
      setInterval(() => {}, 1000);
      writeFileSync("pid", String(process.pid));`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
  Bun.spawnSync([process.execPath, "install", "--lockfile-only"], { cwd: project });
  return project;
}

/** A PATH that holds node, npm, the usual tools, and no Bun. */
function withoutBun(project: string): string {
  const folders = (process.env["PATH"] ?? "").split(":").filter((folder) => !existsSync(join(folder, "bun")));
  // node may live in the same folder as Bun, and would be gone with it.
  for (const name of ["node", "npm", "sh", "env"]) {
    const found = Bun.which(name);
    const link = join(project, "bin", name);
    if (found && !existsSync(link) && !folders.includes(dirname(found))) symlinkSync(found, link);
  }
  return [join(project, "bin"), ...folders].join(":");
}

function withBun(project: string): string {
  const path = withoutBun(project);
  const link = join(project, "bin/bun");
  if (!existsSync(link)) symlinkSync(process.execPath, link);
  return path;
}

function withWrongBun(project: string): string {
  const path = withoutBun(project);
  writeFileSync(join(project, "bin/bun"), "#!/bin/sh\necho 1.0.0\n");
  chmodSync(join(project, "bin/bun"), 0o755);
  return path;
}

/** Starts `npm run <script>` with an empty HOME and nothing of the npm that may have started us. */
function npm(project: string, script: string, { path, env }: { path: string; env?: Record<string, string> }) {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(npm_|EXECUTOR_|BUN_|INIT_CWD$)/i.test(name));
  const child = Bun.spawn(["npm", "run", "--silent", script], {
    cwd: project,
    env: { ...Object.fromEntries(inherited), ...env, PATH: path, HOME: join(project, "home") },
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.push(child);
  const done = async () => {
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { stdout, stderr, code };
  };
  return { child, done };
}

async function pidOf(project: string): Promise<number> {
  const file = join(project, "pid");
  await until(() => existsSync(file) && readFileSync(file, "utf8") !== "");
  return Number(readFileSync(file, "utf8"));
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await Bun.sleep(50);
}
