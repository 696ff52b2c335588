import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { AppError } from "@executor/contracts/error";
import { openSource, startGraphqlServer, type Fixture, type OpenedFixture } from "./graphql-fixture.ts";

let server: Fixture;
let source: OpenedFixture;
beforeAll(async () => {
  server = startGraphqlServer();
  source = await openSource({ url: server.url });
});
beforeEach(() => {
  server.ran.length = 0;
});
afterAll(() => server.stop());

const gate = (input: unknown): string[] =>
  (source.tools.gatePaths?.(source.tool("document"), input) ?? [])
    .map(({ name, effect }) => `${name} ${effect}`)
    .toSorted();

describe("the gate of a document", () => {
  test.each([
    ["a plain query", { query: "{ version }" }, ["query.version safe"]],
    ["aliases that pretend", { query: 'mutation { version: deleteIssue(id: "1") }' }, ["mutation.deleteIssue unsafe"]],
    [
      "a fragment at the root",
      { query: 'mutation { ...A } fragment A on Mutation { deleteIssue(id: "1") }' },
      ["mutation.deleteIssue unsafe"],
    ],
    [
      "fragments in fragments and inline ones",
      {
        query:
          '{ version ...A } fragment A on Query { ... on Query { ...B } } fragment B on Query { ... { issue(id: "1") { id } } }',
      },
      ["query.issue safe", "query.version safe"],
    ],
    [
      "directives",
      { query: "query($no: Boolean = false) { version @skip(if: true) ... @include(if: $no) { whoami } }" },
      ["query.version safe", "query.whoami safe"],
    ],
    [
      "comments, commas and a BOM",
      { query: '\uFEFF# query { version }\n,,,mutation,{,#}\n,deleteIssue(id:"1"),},' },
      ["mutation.deleteIssue unsafe"],
    ],
    [
      "names that mean something",
      { query: "{ then constructor toString }" },
      ["query.constructor_field safe", "query.then_field safe", "query.toString_field safe"],
    ],
    [
      "introspection",
      { query: "{ __schema { queryType { name } } __typename }" },
      ["query.__schema safe", "query.__typename safe"],
    ],
    [
      "the chosen one of several",
      { query: 'query A { version } mutation B { deleteIssue(id: "1") }', operationName: "B" },
      ["mutation.deleteIssue unsafe"],
    ],
    [
      "a circle of fragments",
      { query: "{ ...A } fragment A on Query { version ...B } fragment B on Query { ...A }" },
      ["query.version safe"],
    ],
    [
      "text that looks like more",
      { query: '{ search(text: "} mutation { deleteIssue }") { __typename } }' },
      ["query.search safe"],
    ],
  ])("sees through %s", (_name, input, expected) => {
    expect(gate(input)).toEqual(expected);
  });

  test.each([
    ["no text", { query: 7 }],
    ["an empty text", { query: " " }],
    ["no object", "{ version }"],
    ["other inputs", { query: "{ version }", extensions: {} }],
    ["what does not parse", { query: "{ version " }],
    ["several operations and no name", { query: "query A { version } query B { whoami }" }],
    ["a name that is not there", { query: "query A { version }", operationName: "B" }],
    ["a name that is no text", { query: "query A { version }", operationName: ["A"] }],
    [
      "operations of one name",
      { query: 'query A { version } mutation A { deleteIssue(id: "1") }', operationName: "A" },
    ],
    [
      "a nameless one among several",
      { query: 'query A { version } mutation { deleteIssue(id: "1") }', operationName: "A" },
    ],
    ["fragments of one name", { query: "{ ...A } fragment A on Query { version } fragment A on Query { whoami }" }],
    ["a fragment that is not there", { query: "{ ...A }" }],
    ["a subscription", { query: "subscription { issueAdded { id } }" }],
    ["definitions of types", { query: "{ version } extend type Query { a: Int }" }],
    ["only fragments", { query: "fragment A on Query { version }" }],
    ["fields of the other root", { query: 'query { deleteIssue(id: "1") }' }],
    ["fields nobody has", { query: "{ hasOwnProperty }" }],
    ["too many tokens", { query: `{ ${"version ".repeat(20_000)} }` }],
    ["too much text", { query: `{ version } #${"x".repeat(300_000)}` }],
    ["too deep a nesting", { query: "{ a ".repeat(5_000) }],
    ["too deep a list", { query: `{ issue(id: ${"[".repeat(9_000)}` }],
  ])("refuses %s", async (_name, input) => {
    for (const work of [async () => gate(input), () => source.call("document", input)]) {
      const error = await work().then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(AppError);
      expect((error as AppError).code).toBe("call.input_invalid");
    }
    expect(server.ran).toEqual([]);
  });

  test("leaves tools of single fields to themselves", () => {
    expect(source.tools.gatePaths?.(source.tool("query.version"), {})).toEqual([]);
  });
});

describe("running a document", () => {
  test("sends the operation that was gated and nothing else of the text", async () => {
    const query =
      '# hidden\nquery A { v: version ...F } mutation B { deleteIssue(id: "1") } fragment F on Query { whoami } fragment G on Query { broken { id } }';
    expect(await source.call("document", { query, operationName: "A" })).toEqual({
      ok: true,
      json: '{"v":"1","whoami":null}',
    });
    expect(server.ran.toSorted()).toEqual(["version", "whoami"]);
    const sent = server.bodies.at(-1);
    expect(sent?.query).not.toMatch(/deleteIssue|hidden|broken/);
    expect(sent?.operationName).toBe("A");
  });

  test("passes variables and checks them", async () => {
    const query = "query($id: ID!, $first: Int) { issue(id: $id) { id } issues(first: $first) { totalCount } }";
    expect(await source.call("document", { query, variables: { id: "5" } })).toEqual({
      ok: true,
      json: '{"issue":{"id":"5"},"issues":{"totalCount":1}}',
    });
    const refused = (variables: object) =>
      source.call("document", { query, variables }).then(
        () => "",
        (error: AppError) => error.detail,
      );
    expect(await refused({})).toContain("variables.id is required");
    expect(await refused({ id: "5", first: "x" })).toContain("variables.first");
  });

  test.each([
    ["{ issue { id } }", "id"],
    ['{ issue(id: "1") { nope } }', "nope"],
    ["{ ...A } fragment A on Query { version ...A }", "itself"],
    ["{ version @nope }", "nope"],
  ])("validates %s against the schema before it is sent", async (query, message) => {
    const error = await source.call("document", { query }).then(
      () => null,
      (thrown: unknown) => thrown as AppError,
    );
    expect(error?.code).toBe("call.input_invalid");
    expect(error?.detail).toContain(message);
    expect(server.ran).toEqual([]);
  });
});
