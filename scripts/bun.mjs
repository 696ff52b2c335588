/**
 * Runs the pinned Bun for `npm start` and `npm test`, on a machine that may have only node (>= 20) and npm.
 * Finds or fetches Bun, installs the workspace from bun.lock, then stands between npm and Bun: signals go down,
 * the exit code comes up. Plain node, no dependencies, because it runs before anything is installed.
 *
 * It never runs an install script (npm may block them), never writes outside node_modules/.cache,
 * and never leaves a child behind, even when npm itself is killed.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { constants as os, hostname } from "node:os";
import { delimiter, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const cache = join(root, "node_modules", ".cache");
const stampFile = join(cache, "installed-lock");
const lockFolder = join(cache, "launcher.lock");
const breakerFolder = join(cache, "launcher.lock-breaker");
const exe = process.platform === "win32" ? ".exe" : "";

const KILL_AFTER_MS = 5_000;
const PARENT_POLL_MS = 500;
const LOCK_POLL_MS = 200;
const LOCK_BEAT_MS = 2_000;
/** Ten missed beats: long enough for a suspended laptop's timers to recover, short enough to wait for. */
const LOCK_STALE_MS = 20_000;
const LOCK_WAIT_MS = 10 * 60_000;

/** The child that signals go to at this moment: npm, then `bun install`, then the command itself. */
let current;
let stopSignal;

await main();

async function main() {
  const version = readPinnedVersion();
  passSignalsDown();
  endWithParent();
  try {
    const bun = await prepare(version);
    const outcome = await run(bun, process.argv.slice(2), { stdio: "inherit", env: childEnv(bun) });
    exitLike(outcome);
  } catch (error) {
    if (stopSignal) exitLike({ signal: stopSignal });
    console.error(`scripts/bun.mjs: ${error.message}`);
    process.exit(1);
  }
}

/** Both steps under one lock, and no lock at all in the usual case that nothing is to be done. */
async function prepare(version) {
  const ready = findBun(version);
  if (ready && isInstalled()) return ready;
  return withLock(async () => {
    const bun = findBun(version) ?? (await fetchBun(version));
    if (!isInstalled()) await installWorkspace(bun);
    return bun;
  });
}

function readPinnedVersion() {
  const { packageManager } = JSON.parse(fs.readFileSync(join(root, "package.json"), "utf8"));
  const version = /^bun@(\d[^+]*)/.exec(packageManager ?? "")?.[1];
  if (version) return version;
  console.error(`scripts/bun.mjs: package.json needs "packageManager": "bun@<version>", found ${packageManager}`);
  process.exit(1);
}

// --- Bun ---------------------------------------------------------------------------------------------------------

/** What `bun` means on PATH if it is exactly the pinned version, else our own copy, else nothing. */
function findBun(version) {
  const onPath = (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, `bun${exe}`))
    .find((file) => fs.existsSync(file));
  if (onPath && reports(onPath, version)) return onPath;
  const own = ownBun(version);
  return reports(own, version) ? own : undefined;
}

function ownPrefix(version) {
  return join(cache, `bun-${version}`);
}

function ownBun(version) {
  return join(ownPrefix(version), "bin", `bun${exe}`);
}

/** Evaluates something instead of asking --version: a build for a newer CPU or another libc fails only when it really runs. */
function reports(file, version) {
  if (!fs.existsSync(file)) return false;
  const answer = spawnSync(file, ["--print", "Bun.version"], { cwd: dirname(file), encoding: "utf8", timeout: 20_000 });
  return answer.status === 0 && answer.stdout.trim() === version;
}

/** Fetches into a folder of its own and renames it at the end, so that a half-made copy is never found. */
async function fetchBun(version) {
  console.error(`Fetching Bun ${version} (once, into node_modules/.cache) ...`);
  const making = `${ownPrefix(version)}.making`;
  fs.rmSync(making, { recursive: true, force: true });
  fs.mkdirSync(making, { recursive: true });
  // npm walks up to the nearest package.json, so give it one here.
  fs.writeFileSync(join(making, "package.json"), '{ "private": true }\n');

  let binary;
  let output = "";
  for (const name of ["bun", ...platformPackages()]) {
    const npm = await npmInstall(making, `${name}@${version}`);
    if (stopSignal) throw new Error(`stopped by ${stopSignal}`);
    output ||= npm.failed ? npm.output : "";
    // No network is no network: one clear failure is better than four.
    if (npm.failed && name === "bun") break;
    binary = listBinaries(making).find((file) => reports(file, version));
    if (binary) break;
  }
  if (!binary) throw new Error(cannotFetch(version, output));

  linkBinary(binary, join(making, "bin"));
  fs.rmSync(ownPrefix(version), { recursive: true, force: true });
  fs.renameSync(making, ownPrefix(version));
  return ownBun(version);
}

/** The `bun` package names only the usual build of a platform; the others have to be asked for by name. */
function platformPackages() {
  const system = { win32: "windows" }[process.platform] ?? process.platform;
  const cpu = { arm64: "aarch64" }[process.arch] ?? process.arch;
  const libc = process.platform === "linux" && isMusl() ? "-musl" : "";
  const builds = cpu === "x64" ? ["", "-baseline"] : [""];
  return builds.map((build) => `@oven/bun-${system}-${cpu}${libc}${build}`);
}

function isMusl() {
  return !process.report?.getReport().header.glibcVersionRuntime;
}

async function npmInstall(prefix, spec) {
  const flags = ["--ignore-scripts", "--no-save", "--no-package-lock", "--include=optional", "--no-audit", "--no-fund"];
  const args = ["install", ...flags, "--loglevel=error", "--prefix", prefix, spec];
  // Under `npm run` this is the npm that started us, which may not be the first on PATH.
  const npmCli = process.env.npm_execpath;
  const viaNode = npmCli && /npm-cli\.[cm]?js$/.test(npmCli) && fs.existsSync(npmCli);
  const { code, output } = viaNode
    ? await run(process.execPath, [npmCli, ...args], { cwd: prefix })
    : await run("npm", args, { cwd: prefix, shell: process.platform === "win32" });
  return { failed: code !== 0, output };
}

/** Where the binary may lie: in its platform package, or moved by bun's postinstall if npm ran it after all. */
function listBinaries(prefix) {
  const modules = join(prefix, "node_modules");
  const scope = join(modules, "@oven");
  const packages = fs.existsSync(scope) ? fs.readdirSync(scope).sort() : [];
  return [...packages.map((name) => join(scope, name, "bin", `bun${exe}`)), join(modules, "bun", "bin", "bun.exe")];
}

/** One folder that can go on PATH, with the names scripts use, wherever the binary lies. */
function linkBinary(binary, folder) {
  fs.mkdirSync(folder, { recursive: true });
  for (const name of ["bun", "bunx"]) {
    if (exe) fs.copyFileSync(binary, join(folder, name + exe));
    else fs.symlinkSync(relative(folder, binary), join(folder, name));
  }
}

function cannotFetch(version, output) {
  return [
    `Bun ${version} is needed, and npm could not install a build that runs here (${process.platform} ${process.arch}).`,
    ...(output.trim() ? ["npm said:", output.trim().replace(/^/gm, "  ")] : []),
    "Check that `npm view bun` works (network, proxy, registry), or put this exact Bun on PATH: https://bun.com/docs/installation",
  ].join("\n");
}

// --- The workspace -----------------------------------------------------------------------------------------------

/** What the install depends on: the lock, and the platform, since a checkout may be mounted into another system. */
function installKey() {
  const lock = join(root, "bun.lock");
  const text = fs.existsSync(lock) ? fs.readFileSync(lock) : "";
  return `${createHash("sha256").update(text).digest("hex")} ${process.platform}-${process.arch}\n`;
}

function isInstalled() {
  return fs.existsSync(stampFile) && fs.readFileSync(stampFile, "utf8") === installKey();
}

async function installWorkspace(bun) {
  if (!fs.existsSync(join(root, "node_modules", ".bun"))) console.error("Installing dependencies ...");
  // The key is taken before the install: if bun.lock changes meanwhile, the next start installs again.
  const key = installKey();
  const { code, output } = await run(bun, ["install", "--frozen-lockfile"], { cwd: root, env: childEnv(bun) });
  if (code !== 0) throw new Error(`\`bun install --frozen-lockfile\` failed:\n${output.trim()}`);
  fs.mkdirSync(cache, { recursive: true });
  fs.writeFileSync(stampFile, key);
}

// --- One launcher at a time --------------------------------------------------------------------------------------

/** A folder is the lock, for mkdir is atomic everywhere. Its holder touches it, so a dead holder is noticed. */
async function withLock(work) {
  fs.mkdirSync(cache, { recursive: true });
  await takeLock();
  const beat = setInterval(() => fs.utimes(lockFolder, new Date(), new Date(), () => {}), LOCK_BEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    fs.rmSync(lockFolder, { recursive: true, force: true });
  }
}

async function takeLock() {
  const giveUpAt = Date.now() + LOCK_WAIT_MS;
  while (!makeFolder(lockFolder)) {
    if (stopSignal) throw new Error(`stopped by ${stopSignal}`);
    if (Date.now() > giveUpAt) throw new Error(`another launcher holds ${lockFolder}; delete it if none is running`);
    if (isAbandoned()) breakLock();
    else await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS));
  }
  fs.writeFileSync(join(lockFolder, "owner"), `${hostname()} ${process.pid}`);
}

function makeFolder(folder) {
  try {
    fs.mkdirSync(folder);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

function isAbandoned() {
  try {
    if (Date.now() - fs.statSync(lockFolder).mtimeMs > LOCK_STALE_MS) return true;
    const [host, pid] = fs.readFileSync(join(lockFolder, "owner"), "utf8").split(" ");
    return host === hostname() && !isAlive(Number(pid));
  } catch {
    return false; // Freed, or taken and not yet signed, while we looked: look again.
  }
}

/**
 * Only one launcher may break a lock at a time, and it looks again before it does: otherwise the second breaker
 * would delete the lock that the first has just taken.
 */
function breakLock() {
  if (!makeFolder(breakerFolder)) {
    const age = Date.now() - (fs.statSync(breakerFolder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > LOCK_STALE_MS) fs.rmSync(breakerFolder, { recursive: true, force: true });
    return;
  }
  if (isAbandoned()) fs.rmSync(lockFolder, { recursive: true, force: true });
  fs.rmSync(breakerFolder, { recursive: true, force: true });
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

// --- Processes ---------------------------------------------------------------------------------------------------

/** Runs one child; resolves with its code or signal, and with its output unless stdio is inherited. */
function run(command, args, options) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
    current = child;
    let output = "";
    const collect = (chunk) => (output += chunk);
    child.stdout?.on("data", collect);
    child.stderr?.on("data", collect);
    const done = (outcome) => {
      current = undefined;
      resolve({ ...outcome, output });
    };
    child.on("error", (error) => {
      output += error.message;
      done({ code: 127 });
    });
    child.on("close", (code, signal) => done({ code, signal }));
    if (stopSignal) child.kill(stopSignal);
  });
}

/** Our own copy goes first on PATH, so that scripts which call `bun` get the same one. */
function childEnv(bun) {
  const isOwn = dirname(bun).startsWith(cache);
  const path = isOwn ? dirname(bun) + delimiter + process.env.PATH : process.env.PATH;
  // `bun run` does not notice our death; whoever it runs can, by this pid.
  return { ...process.env, PATH: path, EXECUTOR_LAUNCHER_PID: String(process.pid) };
}

function passSignalsDown() {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) {
    process.on(signal, () => {
      stopSignal = signal;
      current?.kill(signal);
    });
  }
}

/** npm killed with SIGKILL forwards nothing; all we see is that our parent is another process now. */
function endWithParent() {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    stopSignal = "SIGTERM";
    current?.kill("SIGTERM");
    setTimeout(() => current?.kill("SIGKILL"), KILL_AFTER_MS).unref();
  }, PARENT_POLL_MS);
  watch.unref();
}

function exitLike({ code, signal }) {
  if (!signal) process.exit(code ?? 1);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // Windows, or a signal that does not end us: say the same by the exit code.
  setTimeout(() => process.exit(128 + (os.signals[signal] ?? 0)), 200);
}
