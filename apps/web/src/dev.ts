/**
 * Serves the console by itself while it is worked on, with every change at once. The API is that of a running server
 * (`EXECUTOR_HOST` and `EXECUTOR_PORT` say where): requests go through here as if the page came from there.
 */
import { createServer } from "vite";

const host = process.env["EXECUTOR_HOST"] ?? "127.0.0.1";
const target = `http://${host}:${process.env["EXECUTOR_PORT"] ?? 8788}`;
const toServer = {
  target,
  changeOrigin: true,
  // The server answers only pages of its own; while developing, this is one.
  headers: { origin: target },
};

const server = await createServer({
  root: `${import.meta.dir}/..`,
  server: {
    host: "127.0.0.1",
    port: Number(process.env["PORT"] ?? 5_173),
    proxy: { "/api": toServer, "/oauth": toServer },
  },
});
await server.listen();
console.log(`Web page: ${server.resolvedUrls?.local[0] ?? ""} (API: ${target})`);

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
