/**
 * Everything that can be said about the code without running it: format, lint, types, dead code, imports, sizes.
 * `bun run check` runs all, `bun run check --only types` one. It changes nothing; `bun run format` does.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "..");

interface Check {
  name: string;
  /** Arguments of Bun. Tools are run by it too, for there may be no node that is new enough for them. */
  args: string[];
}

const CHECKS: Check[] = [
  { name: "format", args: [bin("oxfmt"), "--check", "."] },
  { name: "lint", args: [bin("oxlint"), "--deny-warnings", "--format", "unix", "."] },
  { name: "types", args: [bin("tsc"), "--noEmit", "-p", "tsconfig.json"] },
  { name: "dead-code", args: [bin("knip"), "--no-progress", "--no-config-hints"] },
  { name: "imports", args: ["scripts/check-imports.ts"] },
  { name: "sizes", args: ["scripts/check-sizes.ts"] },
  { name: "web-size", args: ["scripts/check-web-size.ts"] },
  { name: "convex", args: ["scripts/check-convex.ts"] },
];

export interface CheckResult {
  name: string;
  ok: boolean;
  output: string;
  ms: number;
}

/** All at once: most are short, and the long one (types) leaves gaps that the others fill. */
export async function runChecks(only?: string): Promise<CheckResult[]> {
  const chosen = CHECKS.filter((check) => (only ? check.name === only : isPresent(check)));
  return Promise.all(chosen.map(runCheck));
}

export function printCheck({ name, ok, output, ms }: CheckResult): void {
  console.log(`${ok ? "ok    " : "FAILED"}  ${name.padEnd(10)} ${(ms / 1000).toFixed(1)} s`);
  if (!ok) console.log(output.trimEnd().replace(/^/gm, "    "));
}

async function runCheck({ name, args }: Check): Promise<CheckResult> {
  const startedAt = performance.now();
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: root,
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { name, ok: code === 0, output: out + err, ms: performance.now() - startedAt };
}

/** A check of ours that is not written yet is left out; a tool that is not installed is a failure. */
function isPresent(check: Check): boolean {
  const file = check.args[0] ?? "";
  return !file.startsWith("scripts/") || existsSync(join(root, file));
}

function bin(name: string): string {
  return join(root, "node_modules", ".bin", name);
}

if (import.meta.main) {
  const at = Bun.argv.indexOf("--only");
  const only = at < 0 ? undefined : Bun.argv[at + 1];
  const names = CHECKS.map((check) => check.name);
  if (at >= 0 && !names.includes(only ?? "")) {
    console.error(`--only needs one of: ${names.join(", ")}`);
    process.exit(2);
  }
  const results = await runChecks(only);
  results.forEach(printCheck);
  process.exit(results.every((result) => result.ok) ? 0 : 1);
}
