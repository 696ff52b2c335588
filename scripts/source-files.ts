/**
 * Lists the source files of the repository for the checks: everything we write, nothing that is installed, built or generated.
 * By looking at the disk, not at git, so that it works in an exported copy and sees a file before it is added.
 */
import { join } from "node:path";

const root = join(import.meta.dir, "..");
const FOLDERS = ["apps", "packages", "convex", "e2e", "bench", "scripts"];
const SKIPPED = /(^|\/)(node_modules|dist|_generated|__fixtures__)\//;

export interface SourceFile {
  /** From the root of the repository, with forward slashes. */
  path: string;
  text: string;
}

export async function listSourceFiles(): Promise<SourceFile[]> {
  const glob = new Bun.Glob(`{${FOLDERS.join(",")}}/**/*.{ts,tsx,mts,mjs,js}`);
  const paths = (await Array.fromAsync(glob.scan({ cwd: root })))
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !SKIPPED.test(path))
    .sort();
  return Promise.all(paths.map(async (path) => ({ path, text: await Bun.file(join(root, path)).text() })));
}

export function isTest(path: string): boolean {
  return /\.test\.tsx?$/.test(path);
}
