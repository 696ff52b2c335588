/**
 * Where the engine of isolated guests is: Deno, which comes as an npm package with a binary for each platform. Started without
 * permissions it confines a guest by itself, on every system, with or without an OS sandbox around it.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

export type FoundEngine = { path: string } | { missing: string };

export function findEngine(platform = process.platform, arch = process.arch): FoundEngine {
  const target = platform === "linux" ? `linux-${arch}-glibc` : `${platform}-${arch}`;
  const binary = platform === "win32" ? "deno.exe" : "deno";
  try {
    const own = createRequire(import.meta.url).resolve("deno/package.json");
    const manifest = createRequire(own).resolve(`@deno/${target}/package.json`);
    const path = join(dirname(manifest), binary);
    if (existsSync(path)) return { path };
  } catch {
    // Not installed: said below.
  }
  return {
    missing: `the engine of this runtime, npm package "deno" with "@deno/${target}", is not installed; run the installation again without leaving out optional packages (on Alpine, whose libc it does not fit, use a glibc image)`,
  };
}
