/** Schemas as gateways and databases have them: federation, oneOf inputs, reserved names, thousands of types, partial answers. */
import { afterAll, beforeEach, expect, test } from "bun:test";
import { createSchema, createYoga } from "graphql-yoga";
import { openSource } from "./graphql-fixture.ts";

const COUNT = 1_600;
const each = (count: number, write: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => write(n)).join("\n");
const typeDefs = `
  scalar _Any
  union _Entity = T0 | T1
  type _Service { sdl: String }
  directive @oneOf on INPUT_OBJECT
  input By @oneOf { id: ID name: String }
  type Part { good: String bad: String }
  ${each(COUNT, (n) => `type T${n} { id: ID! next: T${(n + 1) % COUNT} } input I${n} { a: String b: I${(n + 1) % COUNT} }`)}
  type Query {
    ${each(400, (n) => `t${n}(f: I${n}): T${n}`)}
    find(by: By!): T0
    part: Part
    constructor(toString: Int): String
    _service: _Service!
    _entities(representations: [_Any!]!): [_Entity]!
  }
  type Mutation { ${each(100, (n) => `m${n}(f: I${n}): T${n}`)} }
  type Subscription { added: T0 }`;

const ran: string[] = [];
const resolvers = {
  Query: {
    find: (_: unknown, { by }: { by: object }) => (ran.push("find"), { id: JSON.stringify(by) }),
    part: () => ({ good: "here" }),
    constructor: (_: unknown, { toString }: { toString: number }) => `given ${toString}`,
    _service: () => ({ sdl: "type T0" }),
    _entities: (_: unknown, { representations }: { representations: object[] }) => representations,
  },
  Part: {
    bad: () => {
      throw new Error("broken");
    },
  },
  Mutation: { m0: () => (ran.push("m0"), { id: 2 }) },
};
const yoga = createYoga({ logging: false, maskedErrors: false, schema: createSchema({ typeDefs, resolvers }) });
const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => yoga.fetch(request) });
afterAll(() => server.stop(true));
const source = await openSource({ url: `http://127.0.0.1:${server.port}/graphql` });
beforeEach(() => {
  ran.length = 0;
});

test("3,200 types by introspection become a tool for each field of query and mutation, subscriptions a warning", async () => {
  expect(source.index.tools).toHaveLength(400 + 5 + 100 + 1);
  expect(source.index.warnings.join(" ")).toMatch(/subscription/);
  expect(source.tool("mutation.m99")).toMatchObject({ effect: "unsafe", approval: "required" });
  expect(source.tool("query.t399")).toMatchObject({ effect: "safe", approval: "auto" });
  const { inputSchema, signature } = await source.tools.shape(source.tool("query.t7"));
  expect(JSON.stringify(inputSchema).length + signature.length).toBeLessThan(100_000);
});

const both = { id: "1", name: "x" };
const tricks: [string, string, object][] = [
  ["an argument", "query.find", { by: both }],
  ["a null beside it", "query.find", { by: { id: "1", name: null } }],
  ["nothing", "query.find", { by: {} }],
  ["text", "document", { query: '{ find(by: { id: "1", name: "x" }) { id } }' }],
  ["a variable", "document", { query: "query($by: By!) { find(by: $by) { id } }", variables: { by: both } }],
];
test.each(tricks)("an input that takes one of several takes no other number: %s", async (_, name, input) => {
  await expect(source.call(name, input)).rejects.toMatchObject({ code: "call.input_invalid" });
  expect(ran).toEqual([]);
});

test("an input that takes one of several says so, and takes one", async () => {
  const { inputSchema } = await source.tools.shape(source.tool("query.find"));
  expect(JSON.stringify(inputSchema)).toContain('"maxProperties":1');
  expect(await source.call("query.find", { by: { id: "1" } })).toMatchObject({
    ok: true,
    json: expect.stringContaining('{\\"id\\":\\"1\\"}'),
  });
});

test("fields of federation and of reserved names are called like any other", async () => {
  expect(await source.call("query._service")).toEqual({ ok: true, json: '{"sdl":"type T0"}' });
  const representations = [{ __typename: "T1", id: "9" }];
  expect(await source.call("query._entities", { representations })).toEqual({
    ok: true,
    json: '[{"__typename":"T1","id":"9"}]',
  });
  expect(await source.call("query.constructor_field", { toString: 3 })).toEqual({ ok: true, json: '"given 3"' });
});

test("errors beside data are an error that holds both", async () => {
  const outcome = await source.call("query.part");
  expect(outcome).toMatchObject({ ok: false, code: "call.upstream_error", message: "broken" });
  const body = JSON.parse((outcome as { bodyJson: string }).bodyJson) as object;
  expect(body).toMatchObject({ data: { part: { good: "here", bad: null } }, errors: [{ path: ["part", "bad"] }] });
});

test("a mutation under the name of a query is gated as what it is, a subscription is refused with its reason", async () => {
  const gate = (query: string) => source.tools.gatePaths?.(source.tool("document"), { query });
  expect(gate("mutation { t0: m0 { id } }")).toEqual([{ name: "mutation.m0", effect: "unsafe" }]);
  expect(() => gate("subscription { added { id } }")).toThrow("subscription");
});
