/**
 * What a newcomer's browser loads before the console shows anything: the page, its scripts and styles, compressed.
 * Screens and the editor come later, when they are opened, and do not count.
 */
import { join } from "node:path";
import { buildWeb } from "./build-web.ts";

const dist = join(import.meta.dir, "../apps/web/dist");
const MAX_BYTES = 200_000;

/** By path, in compressed bytes. */
export async function measureFirstLoad(folder: string): Promise<Map<string, number>> {
  const html = await Bun.file(join(folder, "index.html")).text();
  const linked = [...html.matchAll(/(?:src|href)="\/([^"]+\.(?:js|css))"/g)].flatMap(([, path]) => path ?? []);
  const sizes = await Promise.all(
    ["index.html", ...linked].map(async (path): Promise<[string, number]> => {
      const bytes = await Bun.file(join(folder, path)).bytes();
      return [path, Bun.gzipSync(bytes).length];
    }),
  );
  return new Map(sizes);
}

if (import.meta.main) {
  await buildWeb();
  const sizes = await measureFirstLoad(dist);
  const total = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
  const list = [...sizes].map(([path, bytes]) => `${path} ${bytes}`).join(", ");
  console.log(`${total} bytes compressed, at most ${MAX_BYTES}: ${list}`);
  const hasScript = [...sizes.keys()].some((path) => path.endsWith(".js"));
  process.exit(hasScript && total <= MAX_BYTES ? 0 : 1);
}
