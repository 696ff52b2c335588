/**
 * What can be said about convex/ without a deployment: its file names, its generated code, and that it bundles for Convex's
 * own JavaScript runtime, where there is no node and no bun. Needs no network and leaves nothing behind.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dir, "..");
const folder = join(root, "convex");
const REGENERATE = "bun node_modules/convex/bin/main.js codegen --system-udfs --typecheck disable";

/** As Convex sees them: no tests (two dots), nothing generated. Glob follows no links; those of node_modules go in circles. */
function listModules(): string[] {
  const files = [...new Bun.Glob("**/*.{ts,tsx,js,jsx}").scanSync(folder)];
  return files.filter((file) => /^(?!_generated|node_modules)[^.]+\.[a-z]+$/.test(file)).toSorted();
}

function checkNames(modules: string[]): string[] {
  return modules
    .filter((file) => file.includes("-"))
    .map((file) => `convex/${file}: no hyphens here; Convex refuses the whole push for one`);
}

/** Convex's own generator, offline, on a copy; the copy needs no packages, for it only lists the modules. */
async function checkGenerated(modules: string[]): Promise<string[]> {
  const copy = mkdtempSync(join(tmpdir(), "check-convex-"));
  try {
    mkdirSync(join(copy, "convex"));
    for (const file of modules) cpSync(join(folder, file), join(copy, "convex", file));
    writeFileSync(join(copy, "package.json"), JSON.stringify({ dependencies: { convex: "*" } }));
    const command = [
      process.execPath,
      join(root, "node_modules/convex/bin/main.js"),
      ...REGENERATE.split(" ").slice(2),
    ];
    const child = Bun.spawn(command, {
      cwd: copy,
      env: { PATH: process.env.PATH, HOME: copy, CI: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    if (code !== 0) return [`convex codegen failed: ${out}${err}`];
    return compare(join(copy, "convex/_generated"), join(folder, "_generated"));
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function compare(fresh: string, committed: string): string[] {
  if (!existsSync(committed)) return [`convex/_generated is missing; run: ${REGENERATE}`];
  const names = new Set([...readdirSync(fresh), ...readdirSync(committed)]);
  const read = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : null);
  const stale = [...names].filter((name) => read(join(fresh, name)) !== read(join(committed, name)));
  return stale.map((name) => `convex/_generated/${name} is not what convex codegen makes; run: ${REGENERATE}`);
}

interface Esbuild {
  build(options: object): Promise<unknown>;
}
interface BuildError {
  text: string;
  location: { file: string; line: number } | null;
}

/** The bundler Convex uses, with its settings, but without its stand-in for async_hooks: we want none of node. */
async function checkBundle(modules: string[]): Promise<string[]> {
  const esbuild = createRequire(Bun.resolveSync("convex/package.json", root))("esbuild") as Esbuild;
  const options = {
    bundle: true,
    platform: "browser",
    format: "esm",
    target: "esnext",
    conditions: ["convex", "module"],
    outdir: "out",
    write: false,
    splitting: true,
    logLevel: "silent",
  };
  try {
    await esbuild.build({ ...options, absWorkingDir: root, entryPoints: modules.map((file) => join(folder, file)) });
    return [];
  } catch (error) {
    const { errors } = error as { errors?: BuildError[] };
    if (!errors) throw error;
    return errors.map(
      ({ text, location }) =>
        `${location ? `${location.file}:${location.line}` : "convex/"}: ${text.split(". ")[0]}: convex/ and all it imports must do without node, bun and the network`,
    );
  }
}

const modules = listModules();
const problems = (await Promise.all([checkNames(modules), checkGenerated(modules), checkBundle(modules)])).flat();
for (const problem of problems) console.log(problem);
process.exit(problems.length > 0 ? 1 : 0);
