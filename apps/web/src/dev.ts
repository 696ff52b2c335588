/**
 * Serves the page by itself while it is worked on. In the product the server does, with its headers and API:
 * links to /api lead nowhere here.
 */
const folder = `${import.meta.dir}/../public`;

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env["PORT"] ?? 0),
  async fetch(request) {
    // A URL has its dots resolved already, so a path cannot leave the folder.
    const { pathname } = new URL(request.url);
    const file = Bun.file(folder + (pathname === "/" ? "/index.html" : pathname));
    return (await file.exists()) ? new Response(file) : new Response("Not found", { status: 404 });
  },
});

console.log(`Web page: ${server.url}`);

// Started by scripts/dev.ts: end with it, even if it had no chance to say so.
const parent = Number(process.env["EXECUTOR_PARENT_PID"] ?? 0);
if (parent > 0) setInterval(() => isAlive(parent) || process.exit(0), 500);

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
