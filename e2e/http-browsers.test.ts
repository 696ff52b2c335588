/** What a page in somebody's browser could send to a server on their machine, and why it gets nothing by it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { routes } from "@executor/contracts/http";
import { type Installation, startInstallation } from "@executor/testkit/installation/start-installation";
import { buildWeb } from "../scripts/build-web.ts";
import { ask, type Person, signIn } from "./support/api.ts";
import { sendRaw } from "./support/raw-http.ts";
import { until } from "./support/until.ts";

let installation: Installation;
let person: Person;
beforeAll(async () => {
  await buildWeb();
  installation = await startInstallation();
  person = await signIn(installation);
});
afterAll(() => installation.stop());

const auth = () => `Authorization: Bearer ${person.token}`;
const everyPath = [
  ...new Set(Object.values(routes).map(({ path }) => path.replace(/\{\w+\}/g, "x"))),
  "/",
  "/tasks",
  "/mcp",
  "/oauth/callback",
  "/internal/runs/x/output",
  "/nothing.js",
];

test("a Host that is not ours is refused on every path", async () => {
  for (const path of everyPath) {
    for (const name of [
      "evil.example.com",
      `evil.example.com:${installation.port}`,
      `127.0.0.1.evil.com:${installation.port}`,
      "127.0.0.1:1",
      "",
    ]) {
      const { status, text } = await sendRaw(installation.port, [`GET ${path} HTTP/1.1`, `Host: ${name}`, auth()]);
      expect([path, name, status]).toEqual([path, name, name === "" && status === 400 ? 400 : 403]);
      expect(text).not.toContain("access-control-allow");
    }
  }
});

test("an Origin that is not ours is refused for reads, writes, streams and preflights; none is fine", async () => {
  const origins = [
    "http://evil.example.com",
    "null",
    "file://",
    `http://127.0.0.1:${installation.port + 1}`,
    `http://localhost.evil.com:${installation.port}`,
    "chrome-extension://abc",
  ];
  for (const origin of origins) {
    for (const line of [
      "GET /api/tasks",
      "POST /api/tasks",
      "GET /api/events",
      "GET /api/health",
      "POST /api/auth/anonymous/bootstrap",
      "OPTIONS /api/tasks",
      "GET /",
    ]) {
      const answer = await person.ask(line, { headers: { origin }, ...(line.startsWith("POST") && { body: {} }) });
      expect([origin, line, answer.status, answer.body.code]).toEqual([origin, line, 403, "request.origin_refused"]);
      expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  }
  for (const origin of [installation.url, `http://localhost:${installation.port}`]) {
    expect((await person.ask("GET /api/tasks", { headers: { origin } })).status).toBe(200);
  }
});

test("a form or text post from a page is refused, and leaves nothing behind", async () => {
  const { workspaceId } = person;
  const body = JSON.stringify({ code: "return 1", workspaceId, metadata: { forged: true } });
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/plain; charset=application/json",
    "application/jsonx",
    "application/json5",
    "",
  ]) {
    const answer = await person.ask("POST /api/tasks", { body, headers: { "content-type": type } });
    expect([type, answer.status, answer.body.code]).toEqual([type, 415, "request.not_json"]);
  }
  const zipped = await fetch(`${installation.url}/api/tasks`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${person.token}`,
      "content-type": "application/json",
      "content-encoding": "gzip",
    },
    body: Bun.gzipSync(Buffer.from(body)),
  });
  expect(zipped.status).toBe(415);
  expect(JSON.stringify((await person.ask("GET /api/tasks")).body)).not.toContain("forged");
});

test("pages may not be framed, answers are not sniffed, and errors are problems", async () => {
  for (const path of ["/", "/tasks", "/api/docs", "/api/health"]) {
    const { headers } = await ask(installation.url, `GET ${path}`);
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(headers.get("content-security-policy")).not.toContain("unsafe-inline");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  }
  const problem = await person.ask("GET /api/tasks/task_none");
  expect(problem.headers.get("content-type")).toBe("application/problem+json");
  expect(problem.body).toMatchObject({ status: 404, code: "task.not_found", requestId: expect.any(String) });
});

test("a GET never decides, whatever its query says", async () => {
  await person.executor.policies.create({ toolPathPattern: "executor.echo", decision: "require_approval" });
  const { taskId } = await person.executor.tasks.create("return await tools.executor.echo({ value: 1 })");
  const approvalId = await until(
    "an approval",
    async () => (await person.executor.approvals.list({ status: "pending", taskId })).items[0]?.approvalId,
  );
  for (const query of [
    "",
    "?decision=approved",
    `?workspaceId=${person.workspaceId}&decision=approved`,
    "?_method=POST",
  ])
    await person.ask(`GET /api/approvals/${approvalId}${query}`);
  await person.ask(`GET /api/approvals/${approvalId}`, { headers: { "x-http-method-override": "POST" } });
  await person.ask(`HEAD /api/approvals/${approvalId}`);
  expect((await person.executor.approvals.get(approvalId)).status).toBe("pending");
  await person.executor.tasks.cancel(taskId);
});
