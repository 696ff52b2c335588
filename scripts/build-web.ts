/**
 * Builds the console into apps/web/dist, where the server serves it from. Does nothing when nothing it is made of has
 * changed: a digest of all of that lies beside the result. Two at once build one after the other.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "..");
const web = join(root, "apps/web");
const stamp = join(web, "dist", ".built-from");
const lock = join(web, "node_modules", ".build-lock");
const LOCK_STALE_MS = 60_000;

/** Everything the result depends on. */
const MADE_OF = [
  "apps/web/{index.html,package.json,vite.config.ts}",
  "apps/web/{src,public}/**/*",
  "packages/{client,contracts}/src/**/*.ts",
  "bun.lock",
];

export async function buildWeb(): Promise<void> {
  const digest = await digestOfSources();
  if (isBuiltFrom(digest)) return;
  await withLock(async () => {
    if (isBuiltFrom(digest)) return;
    const startedAt = performance.now();
    await runVite();
    writeFileSync(stamp, digest);
    console.error(`Built the console in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
  });
}

const isBuiltFrom = (digest: string): boolean => existsSync(stamp) && readFileSync(stamp, "utf8") === digest;

async function digestOfSources(): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  for (const pattern of MADE_OF) {
    const paths = await Array.fromAsync(new Bun.Glob(pattern).scan({ cwd: root }));
    for (const path of paths.filter((each) => !/\.test\.tsx?$/.test(each)).sort()) {
      hash.update(`${path}\0`);
      hash.update(await Bun.file(join(root, path)).bytes());
    }
  }
  return hash.digest("hex");
}

/** Beside the old result first: a server that runs meanwhile serves the old one until the new one is whole. */
async function runVite(): Promise<void> {
  const fresh = join(web, "dist.new");
  const child = Bun.spawn(
    [
      process.execPath,
      "--bun",
      "node_modules/.bin/vite",
      "build",
      "--outDir",
      fresh,
      "--emptyOutDir",
      "--logLevel",
      "warn",
    ],
    { cwd: web, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, NODE_ENV: "production" } },
  );
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`The console cannot be built:\n${out}${err}`);
  await compress(fresh);
  rmSync(join(web, "dist"), { recursive: true, force: true });
  renameSync(fresh, join(web, "dist"));
}

/** Beside each file its compressed form, so that the server has nothing to compute. */
async function compress(folder: string): Promise<void> {
  for await (const path of new Bun.Glob("**/*.{html,js,css,svg}").scan({ cwd: folder, absolute: true })) {
    const packed = Bun.gzipSync(await Bun.file(path).bytes(), { level: 9 });
    await Bun.write(`${path}.gz`, packed);
  }
}

async function withLock(work: () => Promise<void>): Promise<void> {
  mkdirSync(join(web, "node_modules"), { recursive: true });
  while (!takeLock()) await Bun.sleep(100);
  try {
    await work();
  } finally {
    rmdirSync(lock);
  }
}

function takeLock(): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    // Left behind by a build that was killed.
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > LOCK_STALE_MS) rmSync(lock, { recursive: true, force: true });
    return false;
  }
}

if (import.meta.main) await buildWeb();
