import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTestApp, testHost } from "../testing/open-test-app.ts";

const folder = mkdtempSync(join(tmpdir(), "executor-web-"));
const webRoot = join(folder, "public");
mkdirSync(join(webRoot, "assets"), { recursive: true });
writeFileSync(join(folder, "secret.txt"), "canary");
writeFileSync(join(webRoot, "index.html"), "<!doctype html>console");
writeFileSync(join(webRoot, "style.css"), "body{}");
writeFileSync(join(webRoot, ".env"), "canary");
writeFileSync(join(webRoot, "assets/app-abcd1234.js"), "1");
writeFileSync(join(webRoot, "assets/packed-abcd1234.js"), "export {}");
writeFileSync(join(webRoot, "assets/packed-abcd1234.js.gz"), Bun.gzipSync("export {}"));
symlinkSync(join(folder, "secret.txt"), join(webRoot, "link.txt"));
afterAll(() => rmSync(folder, { recursive: true }));

test("files are served with their type, the console's own policy and no framing", async () => {
  await using app = await openTestApp({ deps: { webRoot } });
  const page = await app.call("GET", "/");
  expect([page.status, page.headers.get("content-type"), await page.text()]).toEqual([
    200,
    "text/html;charset=utf-8",
    "<!doctype html>console",
  ]);
  expect(page.headers.get("content-security-policy")).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  );
  expect((await app.call("GET", "/style.css")).headers.get("content-type")).toContain("text/css");
  expect((await app.call("GET", "/assets/app-abcd1234.js")).headers.get("cache-control")).toContain("immutable");
  expect((await app.call("HEAD", "/")).status).toBe(200);
  expect((await app.call("POST", "/", { body: {} })).status).toBe(405);
});

test("a file that lies there compressed, too, goes out so to those who read that", async () => {
  await using app = await openTestApp({ deps: { webRoot } });
  const read = (encoding: string) =>
    app.call("GET", "/assets/packed-abcd1234.js", { headers: { "accept-encoding": encoding } });
  const packed = await read("br, gzip");
  expect([packed.headers.get("content-encoding"), packed.headers.get("vary")]).toEqual(["gzip", "accept-encoding"]);
  expect(packed.headers.get("content-type")).toContain("javascript");
  expect(Buffer.from(Bun.gunzipSync(await packed.bytes())).toString()).toBe("export {}");
  const plain = await read("identity");
  expect([plain.headers.get("content-encoding"), await plain.text()]).toEqual([null, "export {}"]);
});

test("any path that looks like a page gets the console; other doors and missing files do not", async () => {
  await using app = await openTestApp({ deps: { webRoot } });
  for (const path of ["/tasks", "/tasks/task_1", "/sources/add"])
    expect(await (await app.call("GET", path)).text()).toContain("console");
  for (const path of ["/missing.js", "/mcp/x", "/oauth/nothing", "/internal/runs/x", "/.well-known/x"])
    expect([path, (await app.call("GET", path)).status]).toEqual([path, 404]);
});

test("no path leaves the folder (S07)", async () => {
  await using app = await openTestApp({ deps: { webRoot } });
  const paths = [
    "/../secret.txt",
    "/..%2fsecret.txt",
    "/%2e%2e/secret.txt",
    "/%2e%2e%2fsecret.txt",
    "/..%5csecret.txt",
    "/..\\secret.txt",
    "/%252e%252e%252fsecret.txt",
    "/assets/..%2f..%2fsecret.txt",
    "/style.css%00.html",
    "//etc/passwd",
    "/%2fetc%2fpasswd",
    "/link.txt",
    "/.env",
    "/%2eenv",
    "/%ff",
    "/%",
    `/${folder}/secret.txt`,
  ];
  for (const path of paths) {
    const response = await app.fetch(new Request(`http://${testHost}${path}`, { headers: { host: testHost } }));
    const text = await response.text();
    expect([path, text.includes("canary") || text.includes("root:"), response.status < 500]).toEqual([
      path,
      false,
      true,
    ]);
  }
});
