import { expect, test } from "bun:test";
import { type Route, routes } from "@executor/contracts/http";
import { openTestApp } from "./testing/open-test-app.ts";

type Json = Record<string, unknown>;
interface Document extends Json {
  openapi: string;
  paths: Record<string, Record<string, Json>>;
  components: { schemas: Json };
}

test("every route of the table is in the document, with its role", async () => {
  await using app = await openTestApp();
  const document = await app.json<Document>("GET", "/api/openapi.json", 200);
  expect(document.openapi).toBe("3.1.0");
  const told = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => `${method} ${path} ${String(operation["x-role"])} ${String(operation["operationId"])}`,
    ),
  );
  const table = (Object.entries(routes) as [string, Route][]).map(
    ([name, { method, path, role }]) => `${method} ${path} ${role} ${name}`,
  );
  expect(told.toSorted()).toEqual(table.toSorted());
});

test("every reference leads somewhere, and nothing of zod's own is left", async () => {
  await using app = await openTestApp();
  const document = await app.json<Document>("GET", "/api/openapi.json", 200);
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? "");
  expect(references.length).toBeGreaterThan(50);
  for (const reference of references) {
    const found = reference
      .replace(/^#\//, "")
      .split("/")
      .reduce<unknown>((at, name) => (at as Json | undefined)?.[name], document);
    expect([reference, typeof found]).toEqual([reference, "object"]);
  }
  expect(JSON.stringify(document)).not.toMatch(/\$defs|__schema|"\$schema"/);
  expect(Object.keys(document.components.schemas)).toEqual(
    expect.arrayContaining(["Task", "CreateTask", "Approval", "Problem", "TaskSummary"]),
  );
});

test("parameters, bodies and answers are told as they are", async () => {
  await using app = await openTestApp();
  const { paths } = await app.json<Document>("GET", "/api/openapi.json", 200);
  expect(paths["/api/tasks"]?.["get"]).toMatchObject({
    parameters: expect.arrayContaining([
      expect.objectContaining({
        name: "limit",
        in: "query",
        required: false,
        schema: expect.objectContaining({ type: "integer", minimum: 1, maximum: 200 }),
      }),
    ]),
  });
  expect(paths["/api/tasks/{taskId}"]?.["get"]).toMatchObject({
    parameters: expect.arrayContaining([expect.objectContaining({ name: "taskId", in: "path", required: true })]),
    responses: { "200": { content: { "application/json": { schema: { $ref: "#/components/schemas/Task" } } } } },
  });
  expect(paths["/api/tasks"]?.["post"]).toMatchObject({
    requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/CreateTask" } } } },
  });
  expect(paths["/api/health"]?.["get"]).toMatchObject({ security: [] });
  expect(paths["/api/keys/{keyId}"]?.["delete"]).toMatchObject({
    parameters: expect.arrayContaining([expect.objectContaining({ name: "workspaceId", required: true })]),
  });
});

test("the page lists all routes and codes and needs nothing but its own style", async () => {
  await using app = await openTestApp();
  const response = await app.call("GET", "/api/docs");
  const page = await response.text();
  for (const { path } of Object.values(routes)) expect(page).toContain(path);
  expect(page).toContain('id="approval.already_decided"');
  expect(page).not.toMatch(/<script|src=|https?:\/\/(?!json-schema)/);
  const policy = response.headers.get("content-security-policy") ?? "";
  const style = /<style>([^]*?)<\/style>/.exec(page)?.[1] ?? "";
  expect(policy).toContain(`'sha256-${new Bun.CryptoHasher("sha256").update(style).digest("base64")}'`);
  expect(policy).not.toContain("unsafe");
});
