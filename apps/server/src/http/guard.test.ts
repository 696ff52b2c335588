import { expect, test } from "bun:test";
import type { TestApp } from "../testing/open-test-app.ts";
import { openTestApp, testHost } from "../testing/open-test-app.ts";

const health = (app: TestApp, headers: Record<string, string>) => app.call("GET", "/api/health", { headers });

test("only our own names are served, on every route (S01)", async () => {
  await using app = await openTestApp();
  for (const host of ["127.0.0.1:8788", "localhost:8788", "LOCALHOST:8788", "[::1]:8788"])
    expect([host, (await health(app, { host })).status]).toEqual([host, 200]);
  for (const host of [
    "evil.example.com",
    "evil.example.com:8788",
    "127.0.0.1",
    "127.0.0.1:80",
    "localhost:8789",
    "127.0.0.1:8788.evil.com",
    "localhost.evil.com:8788",
    "",
  ]) {
    for (const path of ["/api/health", "/", "/api/tasks", "/mcp", "/oauth/callback"]) {
      const problem = await app.problem("GET", path, { headers: { host } });
      expect([host, path, problem.code]).toEqual([host, path, "request.host_refused"]);
    }
  }
});

test("a public URL and allowed hosts are served, too", async () => {
  await using app = await openTestApp({
    env: { publicUrl: "https://executor.example.com/x", allowedHosts: ["box.lan", "other.lan:99"] },
  });
  for (const host of ["executor.example.com", "box.lan", "box.lan:1234", "other.lan:99", testHost])
    expect([host, (await health(app, { host })).status]).toEqual([host, 200]);
  for (const host of ["executor.example.com:8788", "other.lan", "other.lan:98", "x.box.lan"])
    expect([host, (await health(app, { host })).status]).toEqual([host, 403]);
});

test("only our own pages may call, reading or writing; a request without Origin is no page's (S02)", async () => {
  await using app = await openTestApp();
  for (const origin of ["http://127.0.0.1:8788", "http://localhost:8788"])
    expect((await health(app, { origin })).status).toBe(200);
  for (const origin of [
    "null",
    "http://evil.com",
    "http://localhost:3000",
    "http://127.0.0.1",
    "file://",
    "chrome-extension://abc",
    "http://127.0.0.1:8788.evil.com",
    "garbage",
    "",
  ]) {
    for (const [method, path] of [
      ["GET", "/api/health"],
      ["GET", "/api/events"],
      ["POST", "/api/auth/anonymous/bootstrap"],
      ["OPTIONS", "/api/tasks"],
    ] as const) {
      const response = await app.call(method, path, { headers: { origin } });
      expect([origin, path, response.status]).toEqual([origin, path, 403]);
    }
  }
});

test("no answer carries a CORS header, and all carry those that close things", async () => {
  await using app = await openTestApp();
  for (const path of ["/api/health", "/api/nothing", "/api/docs", "/api/tasks"]) {
    const { headers } = await app.call("GET", path, { headers: { origin: `http://${testHost}` } });
    expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(headers.get("x-request-id")).toMatch(/^req_/);
  }
});
