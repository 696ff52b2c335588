import { expect, test } from "bun:test";
import { emptyForm, formFromProbe, formFromSource, problemsOf, splitCommand, toDefinition } from "./to-definition.ts";

test("what a probe found becomes a form, and the form a definition", () => {
  const form = formFromProbe({
    type: "openapi",
    confidence: 1,
    name: "Pets",
    namespace: "pets",
    definition: { type: "openapi", name: "Pets", spec: "https://pets.example/doc.json", auth: { header: "x-key" } },
    auth: { required: true, types: ["apiKey"], detail: "" },
    warnings: [],
  });
  expect(problemsOf(form)).toEqual({});
  expect(toDefinition({ ...form, writes: "auto" })).toEqual({
    type: "openapi",
    name: "Pets",
    namespace: "pets",
    spec: "https://pets.example/doc.json",
    auth: { mode: "workspace", type: "apiKey", header: "x-key" },
    defaultWriteApproval: "auto",
  });
});

test("each kind sends only what is its own", () => {
  const mcp = { ...emptyForm, type: "mcp" as const, name: "M", url: "https://m.example/mcp", baseUrl: "https://x" };
  expect(toDefinition(mcp)).toEqual({ type: "mcp", name: "M", url: "https://m.example/mcp" });
  expect(toDefinition({ ...mcp, url: "", command: `npx -y "a b" --flag='c d'` })).toEqual({
    type: "mcp",
    name: "M",
    command: "npx",
    args: ["-y", "a b", "--flag='c", "d'"],
  });
  const oauth = { ...mcp, authType: "oauth2" as const, authMode: "actor" as const, scopes: "read, write" };
  expect(toDefinition(oauth).auth).toEqual({ mode: "actor", type: "oauth2", scopes: ["read", "write"] });
  expect(splitCommand("  ")).toEqual([]);
});

test("what is missing is said at its field", () => {
  expect(problemsOf({ ...emptyForm, namespace: "Bad Name", authType: "apiKey" })).toEqual({
    name: expect.any(String) as string,
    namespace: expect.any(String) as string,
    spec: expect.any(String) as string,
    keyName: expect.any(String) as string,
  });
});

test("a source that is there fills the form again", () => {
  const form = formFromSource({
    sourceId: "source_1",
    workspaceId: "ws_1",
    type: "graphql",
    name: "G",
    namespace: "g",
    url: "https://g.example/graphql",
    defaultApproval: "required",
    auth: { mode: "actor", type: "oauth2", scopes: ["a", "b"], clientId: "me" },
    origin: "workspace",
    health: "ok",
    toolCount: 1,
    warnings: [],
    createdAt: "2026-01-01T00:00:00.000Z",
  });
  expect(form).toMatchObject({
    authType: "oauth2",
    authMode: "actor",
    scopes: "a b",
    clientId: "me",
    reads: "required",
  });
});
