import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { AppError } from "@executor/contracts/error";
import type { JsonSchema } from "@executor/contracts/tool";
import {
  fixtureSdl,
  openSource,
  readIo,
  specOf,
  startGraphqlServer,
  type Fixture,
  type OpenedFixture,
} from "./graphql-fixture.ts";
import { graphqlKind } from "./graphql-kind.ts";

let server: Fixture;
let source: OpenedFixture;
beforeAll(async () => {
  server = startGraphqlServer();
  source = await openSource({ url: server.url });
});
afterAll(() => server.stop());

const json = async (name: string, input?: unknown): Promise<unknown> => {
  const outcome = await source.call(name, input);
  if (!outcome.ok) throw new Error(outcome.message);
  return JSON.parse(outcome.json);
};
const refusal = async (work: Promise<unknown>): Promise<AppError> => {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(AppError);
  return error as AppError;
};

describe("reading a schema", () => {
  test("makes a tool of every query and mutation field, and one for documents", () => {
    const names = source.index.tools.map(({ name }) => name);
    expect(names).toContain("query.issue");
    expect(names).toContain("mutation.createIssue");
    expect(names.at(-1)).toBe("document");
    expect(source.tool("query.issue")).toMatchObject({ effect: "safe", approval: "auto", description: "One issue." });
    expect(source.tool("mutation.createIssue")).toMatchObject({ effect: "unsafe", approval: "required" });
    expect(source.index.warnings.join()).toContain("1 subscription");
  });

  test("gives names that mean something to JavaScript a suffix", () => {
    const names = source.index.tools.map(({ name }) => name);
    expect(names).toContain("query.then_field");
    expect(names).toContain("query.constructor_field");
    expect(names).toContain("query.toString_field");
    expect(new Set(names).size).toBe(names.length);
  });

  test("gives the same tools and hashes from SDL as from introspection", async () => {
    const fromText = await openSource({ url: server.url, spec: fixtureSdl });
    expect(fromText.index.tools.map(({ name, hash }) => [name, hash])).toEqual(
      source.index.tools.map(({ name, hash }) => [name, hash]),
    );
  });

  test("changes the hash of a field when an input type far below its arguments changes, and no other", async () => {
    const changed = await openSource({
      url: server.url,
      spec: fixtureSdl.replace("color: String", "color: Int"),
    });
    const differing = changed.index.tools
      .filter((tool, at) => tool.hash !== source.index.tools[at]?.hash)
      .map(({ name }) => name);
    expect(differing).toEqual(["mutation.createIssue", "document"]);
  });

  test("changes the hash when the result changes", async () => {
    const changed = await openSource({
      url: server.url,
      spec: fixtureSdl.replace("title: String!", "title: String"),
    });
    expect(changed.tool("query.issue").hash).not.toBe(source.tool("query.issue").hash);
    expect(changed.tool("query.version").hash).toBe(source.tool("query.version").hash);
  });

  test("reads files only where the machine may be reached", async () => {
    const folder = await mkdtemp(join(tmpdir(), "graphql-"));
    try {
      const file = join(folder, "schema.graphql");
      await writeFile(file, fixtureSdl);
      const spec = pathToFileURL(file).href;
      expect((await refusal(openSource({ url: server.url, spec }))).code).toBe("source.admin_only");
      const opened = await openSource({ url: server.url, spec }, readIo({ mayReachMachine: true }));
      expect(opened.index.tools.length).toBe(source.index.tools.length);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("recommends SDL where introspection is switched off", async () => {
    const closed = startGraphqlServer({ introspection: false });
    try {
      const error = await refusal(openSource({ url: closed.url }));
      expect(error.code).toBe("source.unreadable");
      expect(error.detail).toContain("not allowed here");
      expect(error.detail).toContain("SDL");
      const opened = await openSource({ url: closed.url, spec: fixtureSdl });
      expect(await opened.call("query.version")).toEqual({ ok: true, json: '"1"' });
    } finally {
      closed.stop();
    }
  });

  test("asks again with less when a server does not know newer introspection fields", async () => {
    const old = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        const { query } = (await request.json()) as { query: string };
        const stranger = [
          "isOneOf",
          "specifiedByURL",
          "isRepeatable",
          "includeDeprecated: true) {\n            ...InputValue",
        ].find((word) => query.includes(word));
        if (stranger)
          return Response.json({ errors: [{ message: `Cannot query field "${stranger}"` }] }, { status: 400 });
        return fetch(server.url, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ query }),
        });
      },
    });
    try {
      const opened = await openSource({ url: `http://127.0.0.1:${old.port}/` });
      expect(opened.index.tools.length).toBe(source.index.tools.length);
    } finally {
      await old.stop(true);
    }
  });

  test("says what is wrong with a schema that is none", async () => {
    expect((await refusal(openSource({ url: server.url, spec: "type Query {" }))).code).toBe("source.unreadable");
    expect((await refusal(openSource({ url: server.url, spec: "type A { a: Int }" }))).detail).toContain(
      "neither a Query",
    );
    expect((await refusal(graphqlKind.read(specOf({ url: "nowhere" }), readIo()))).code).toBe("source.invalid");
  });
});

describe("describing a field", () => {
  test("types arguments, nullability, enums and input types", async () => {
    const { inputSchema, signature } = await source.tools.shape(source.tool("mutation.createIssue"));
    const defs = inputSchema.$defs as Record<string, JsonSchema>;
    expect(inputSchema.required).toEqual(["input"]);
    expect(Object.keys(defs).toSorted()).toEqual(["IssueInput", "Label", "State"]);
    expect(defs.IssueInput).toMatchObject({ required: ["title"], additionalProperties: false });
    expect(signature).toStartWith("(input: { input: { title: string;");
  });

  test("shows what the default selection gives", async () => {
    const { outputSchema, signature } = await source.tools.shape(source.tool("query.issue"));
    expect(signature).toContain('state: "OPEN" | "CLOSED"');
    expect(JSON.stringify(outputSchema)).not.toContain("rendered");
    expect(JSON.stringify(outputSchema)).not.toContain('"old"');
  });

  test("calls the selection $select where an argument is called select", async () => {
    const { inputSchema } = await source.tools.shape(source.tool("query.picked"));
    expect(Object.keys(inputSchema.properties as object)).toEqual(["select", "$select"]);
    expect(await json("query.picked", { select: "x", $select: "{ login }" })).toEqual({ login: "ada" });
  });
});

describe("calling a field", () => {
  test("returns the leaves of the result and a short look at what hangs on it", async () => {
    expect(await json("query.issue", { id: "7" })).toEqual({
      id: "7",
      title: "Issue 7",
      state: "OPEN",
      createdAt: "2026-01-01T00:00:00Z",
      author: { id: "u1", login: "ada", name: "Ada" },
    });
  });

  test("looks into connections and payloads", async () => {
    expect(await json("query.issues", { first: 1, after: null })).toMatchObject({
      totalCount: 1,
      pageInfo: { hasNextPage: false, endCursor: null },
      nodes: [{ id: "1", title: "Issue 1" }],
    });
    expect(await json("mutation.createIssue", { input: { title: "New", labels: [{ name: "a" }] } })).toMatchObject({
      issue: { id: "9", title: "New" },
    });
  });

  test("tells members of a union apart", async () => {
    expect(await json("query.search", { text: "x" })).toMatchObject([
      { __typename: "Issue", title: "Issue 1" },
      { __typename: "User", login: "ada" },
    ]);
    expect(await json("query.node", { id: "u1" })).toMatchObject({ __typename: "User", id: "u1", login: "ada" });
  });

  test("sends arguments as variables, never as text", async () => {
    const id = '1") { id } deleteIssue(id: "1';
    await json("query.issue", { id });
    const sent = server.bodies.at(-1);
    expect(sent?.query).toStartWith("query($id: ID!) { issue(id: $id) {");
    expect(sent?.variables).toEqual({ id });
  });

  test("takes a selection as text, as a list and as an object", async () => {
    for (const select of [
      "{ id author { login } }",
      "id author { login }",
      ["id", { author: ["login"] }],
      { id: true, author: { login: true }, title: false },
    ]) {
      expect(await json("query.issue", { id: "1", select })).toEqual({ id: "1", author: { login: "ada" } });
    }
    expect(await json("query.search", { text: "x", select: ["__typename", { "... on User": ["login"] }] })).toEqual([
      { __typename: "Issue" },
      { __typename: "User", login: "ada" },
    ]);
    expect(
      await json("query.issue", { id: "1", select: "{ who: author { issues(first: 1) { totalCount } } }" }),
    ).toHaveProperty("who");
  });

  test.each([
    ["{ nope }", 'Cannot query field "nope"'],
    ["{ author }", "must have a selection"],
    ["{ rendered }", "format"],
    ["{ id } }", "not valid GraphQL"],
    ["{ id } } mutation { deleteIssue(id: 1)", "not valid GraphQL"],
    ["{ id } mutation { deleteIssue(id: 1) }", "one selection"],
    ["id } deleteIssue { id", "not valid GraphQL"],
    ["{ ...F } fragment F on Issue { id }", "one selection"],
    ["{ rendered(format: $id) }", "id"],
    [["id }  { x"], "no name of a field"],
    [{ "a: id": true }, "no name of a field"],
    [7, "must be text"],
    ["{ author ".repeat(200), "nests deeper"],
  ])("refuses the selection %p", async (select, message) => {
    const before = server.bodies.length;
    const error = await refusal(source.call("query.issue", { id: "1", select }));
    expect(error.code).toBe("call.input_invalid");
    if (message !== "id") expect(error.detail).toContain(message);
    expect(server.bodies.length).toBe(before);
  });

  test.each([
    ["query.issue", {}, "id is required: ID!"],
    ["query.issue", { id: "1", ids: 2 }, "Did you mean id"],
    ["query.issue", { id: { a: 1 } }, "id: "],
    ["query.issues", { state: "MAYBE" }, "state: "],
    ["query.issues", { first: "ten" }, "first: "],
    ["mutation.createIssue", { input: { title: "x", labels: [{ color: "red" }] } }, "input.labels.0"],
    ["query.issue", [], "must be an object"],
    ["query.version", { select: "{ a }" }, "not an argument"],
  ])("checks the input of %s: %p", async (name, input, message) => {
    const error = await refusal(source.call(name, input));
    expect(error.code).toBe("call.input_invalid");
    expect(error.detail).toContain(message);
  });

  test("gives errors of the other side as errors, with what data there is", async () => {
    const outcome = await source.call("query.broken");
    expect(outcome).toMatchObject({ ok: false, code: "call.upstream_error", message: "it broke" });
    expect(JSON.parse((outcome as { bodyJson: string }).bodyJson)).toMatchObject({
      data: { broken: null },
      errors: [{ message: "it broke" }],
    });
  });

  test("sends the credential and takes it out of the answer", async () => {
    const auth = {
      parts: [{ in: "header" as const, name: "authorization", value: "Bearer s3cret-canary" }],
      secrets: ["s3cret-canary"],
    };
    expect(await source.call("query.whoami", {}, auth)).toEqual({ ok: true, json: '"Bearer [redacted]"' });
  });

  test("tells a status that is no answer", async () => {
    const locked = startGraphqlServer({ token: "t0ken" });
    try {
      const opened = await openSource({ url: locked.url, spec: fixtureSdl });
      expect(await opened.call("query.version")).toMatchObject({ ok: false, code: "call.upstream_error", status: 401 });
      expect((await refusal(openSource({ url: locked.url }))).detail).toContain("401");
      expect(await graphqlKind.probe(locked.url, readIo())).toMatchObject({
        type: "graphql",
        auth: { required: true },
      });
    } finally {
      locked.stop();
    }
  });
});

describe("probing", () => {
  test("finds an endpoint and counts its tools", async () => {
    expect(await graphqlKind.probe(server.url, readIo())).toMatchObject({
      type: "graphql",
      confidence: 1,
      toolCount: source.index.tools.length,
      definition: { url: server.url },
    });
  });

  test("does not take other servers for one", async () => {
    const other = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => Response.json({ errors: [{ message: "no such route" }] }, { status: 404 }),
    });
    expect(await graphqlKind.probe(`http://127.0.0.1:${other.port}/`, readIo())).toBeNull();
    await other.stop(true);
    expect(await graphqlKind.probe(`http://127.0.0.1:${other.port}/`, readIo())).toBeNull();
    expect(await graphqlKind.probe("not a url", readIo())).toBeNull();
  });
});
