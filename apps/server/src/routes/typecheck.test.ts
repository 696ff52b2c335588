import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Session } from "@executor/contracts/identity";
import type { TypecheckResult } from "@executor/contracts/typecheck";
import { createTypeChecker } from "@executor/typecheck/type-checker";
import { type OpenapiServer, startOpenapiServer } from "@executor/testkit/tools/openapi-server";
import { openTestApp, type TestApp } from "../testing/open-test-app.ts";

let pets: OpenapiServer;
let app: TestApp;
let me: Session;
beforeAll(async () => {
  pets = startOpenapiServer();
  app = await openTestApp();
  me = await app.session();
  const spec = `${pets.url}/openapi.json`;
  const body = { workspaceId: me.workspaceId, type: "openapi", name: "Pets", spec };
  await app.json("POST", "/api/tool-sources", 201, { token: me.sessionId, body });
  await app.readSources();
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await pets.stop();
});

const check = (code: string, on = app, who = me) =>
  on.json<TypecheckResult>("POST", "/api/typecheck", 200, {
    token: who.sessionId,
    body: { workspaceId: who.workspaceId, code },
  });
const lines = async (code: string) =>
  (await check(code)).diagnostics.map(({ line, column, message, hint }) =>
    `${line}:${column} ${message} ${hint ?? ""}`.trim(),
  );

test("code that fits is fine, and says that its types were checked", async () => {
  const code = `const pets = await tools.pets.pets.list_pets();
    const made = await tools.pets.pets.create_pet({ name: "Ada" });
    return [pets.map((pet) => pet.name.toUpperCase()), made.id + 1];`;
  expect(await check(code)).toEqual({ ok: true, checked: "types", diagnostics: [], notes: [] });
});

test("a wrong path names the nearest tool, wrong inputs what is missing and what would fit", async () => {
  expect((await lines("return await tools.pets.pets.list_pet()"))[0]).toStartWith(
    "1:30 There is no tool pets.pets.list_pet. Nearest: tools.pets.pets.list_pets",
  );
  const [missing = ""] = await lines("return await tools.pets.pets.create_pet({ nam: 'x' })");
  expect(missing).toMatch(/^1:43 .*'nam'.*'name'.* tools\.pets\.pets\.create_pet is \(input: \{ name: string/);
  const [type = ""] = await lines("\n\nreturn await tools.pets.pets.create_pet({ name: 5 })");
  expect(type).toMatch(/^3:43 Type 'number' is not assignable to type 'string'\. tools\.pets/);
  const [field = ""] = await lines("const [pet] = await tools.pets.pets.list_pets();\nreturn pet.nickname");
  expect(field).toMatch(/^2:12 Property 'nickname' does not exist/);
});

test("other ways to reach a tool are checked too, or said to be unchecked", async () => {
  expect(await lines(`return await tools["pets"]["pets"]["create_pet"]({ name: 1 })`)).toHaveLength(1);
  expect((await lines(`return await tools["pets"]?.["pets"].nope({})`))[0]).toStartWith(
    "1:38 There is no tool pets.pets.nope.",
  );
  expect((await lines(`return await tools['pets']['pets']['nope']({})`))[0]).toContain(
    "There is no tool pets.pets.nope.",
  );
  expect(await lines("const api = tools.pets.pets; return await api.create_pet({ name: 1 })")).toHaveLength(1);
  expect(await lines("const { pets } = tools.pets; return await pets.nothing()")).toHaveLength(1);
  const dynamic = await check("const name = 'pets'; return await tools[name].pets.whatever({})");
  expect(dynamic).toMatchObject({ ok: true, checked: "types" });
  expect(dynamic.notes[0]).toContain("not checked");
  // Named in text only, and what others call `tools`.
  expect(await lines("const x = { tools: { a: 1 } }; return x.tools.a + 'tools.nothing.here'")).toEqual([]);
});

test("an account and a whole body are taken, as a call takes them", async () => {
  expect(await lines(`return await tools.pets.pets.create_pet({ name: "x", $account: "work" })`)).toEqual([]);
  expect(await lines(`return await tools.pets.pets.create_pet({ body: { name: "x" } })`)).toEqual([]);
});

test("tools that policy denies are not there", async () => {
  const rule = { workspaceId: me.workspaceId, toolPathPattern: "pets.pets.create_pet", decision: "deny" };
  const { policyId } = await app.json<{ policyId: string }>("POST", "/api/policies", 201, {
    token: me.sessionId,
    body: rule,
  });
  expect((await lines("return await tools.pets.pets.create_pet({ name: 'x' })"))[0]).toContain(
    "There is no tool pets.pets.create_pet",
  );
  await app.json("DELETE", `/api/policies/${policyId}?workspaceId=${me.workspaceId}`, 204, { token: me.sessionId });
});

test("syntax comes first, and a checker that has no answer leaves it at that and says so", async () => {
  expect(await check("return SYNTAX")).toMatchObject({
    ok: false,
    checked: "syntax",
    diagnostics: [{ line: 2, column: 3 }],
  });
  await using without = await openTestApp({ deps: { typeChecker: createTypeChecker({ compilerPath: null }) } });
  const result = await check("return tools.nothing.here()", without, await without.session());
  expect(result).toEqual({
    ok: true,
    checked: "syntax",
    diagnostics: [],
    notes: ["Types were not checked: there is no type checker for this platform."],
  });
});

test("a task that asks for it is refused before there is one, with every place; else it tells what was checked", async () => {
  const submit = (code: string, typecheck?: boolean) =>
    app.call("POST", "/api/tasks", { token: me.sessionId, body: { workspaceId: me.workspaceId, code, typecheck } });
  const wrong = "return await tools.pets.pets.create_pet({ name: 5 }) + tools.pets.pets.nope()";
  const refused = await submit(wrong, true);
  const problem = (await refused.json()) as { code: string; detail: string; data: { diagnostics: unknown[] } };
  expect([refused.status, problem.code, problem.data.diagnostics.length]).toEqual([422, "task.type_error", 2]);
  expect(problem.detail.split("\n")).toHaveLength(2);
  const fine = await submit("return 1", true);
  expect([fine.status, fine.headers.get("executor-typecheck")]).toEqual([201, "types"]);
  const unasked = await submit(wrong);
  expect([unasked.status, unasked.headers.get("executor-typecheck")]).toEqual([201, null]);
});

test("the declarations for editors are TypeScript that holds, of all or of one namespace", async () => {
  const text = await (await app.call("GET", "/api/tools/types", { token: me.sessionId })).text();
  for (const part of ['readonly "pets"', '"create_pet": (input', '"discover"', "declare class ToolError"])
    expect(text).toContain(part);
  const checker = createTypeChecker();
  const tools = text.slice(text.indexOf("declare const tools"));
  const code = "const pet = await tools.pets.pets.create_pet({ name: 'x' }); return pet.name.length + tools.nope.x";
  const result = await checker.check(code, tools);
  expect(result).toMatchObject({
    kind: "checked",
    problems: [{ line: 1, message: expect.stringContaining("'nope'") }],
  });
  checker.close();
  const one = await (await app.call("GET", "/api/tools/types?namespace=pets", { token: me.sessionId })).text();
  expect(one).not.toContain('"discover"');
});
