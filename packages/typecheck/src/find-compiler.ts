/** Where the compiler of the pinned TypeScript lies. It comes as a package of its own for each platform. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Null where there is none for this platform; code is then checked for its syntax only. */
export function findCompiler(): string | null {
  try {
    const typescript = createRequire(import.meta.url).resolve("typescript/package.json");
    const platform = createRequire(typescript).resolve(
      `@typescript/typescript-${process.platform}-${process.arch}/package.json`,
    );
    const path = join(dirname(platform), "lib", process.platform === "win32" ? "tsc.exe" : "tsc");
    return existsSync(path) ? path : null;
  } catch {
    return null;
  }
}
