/** EXECUTOR_TOOL_SOURCES: what people paste works as it is, and what is wrong is said by its field, never by its value. */
import { expect, test } from "bun:test";
import { readToolSources } from "./sources-env.ts";

const read = (value: unknown) => readToolSources({ EXECUTOR_TOOL_SOURCES: JSON.stringify(value) });

test("the documented example is taken as it stands", () => {
  const mcp = {
    type: "mcp",
    name: "answeroverflow",
    url: "https://www.answeroverflow.com/mcp",
    defaultApproval: "auto",
  };
  const billing = {
    type: "openapi",
    name: "billing",
    spec: "https://example.com/openapi.json",
    baseUrl: "https://api.example.com",
    defaultReadApproval: "auto",
    defaultWriteApproval: "required",
  };
  expect<unknown>(read([mcp, billing])).toEqual([mcp, billing]);
  expect(readToolSources({})).toEqual([]);
});

test("kind, endpoint and specUrl are other names", () => {
  expect<unknown>(
    read([{ kind: "openapi", name: "a", endpoint: "https://a.test", specUrl: "https://a.test/o.json" }]),
  ).toEqual([{ type: "openapi", name: "a", url: "https://a.test", spec: "https://a.test/o.json" }]);
});

const good = { type: "openapi", name: "a", spec: "https://a.test/openapi.json" };
const wrong: [field: string, source: unknown, says: string][] = [
  ["[1].type", { name: "a" }, '"mcp"|"openapi"|"graphql"'],
  ["[1].name", { ...good, name: "" }, "Too small"],
  ["[1].spec", { type: "openapi", name: "a" }, "needs spec"],
  ["[1].url", { type: "mcp", name: "a" }, "needs url"],
  ["[1].url", { type: "graphql", name: "a", spec: "type Query { a: Int }" }, "its endpoint"],
  ["[1].namespace", { ...good, namespace: "A b" }, "lower-case"],
  ["[1].defaultApproval", { ...good, defaultApproval: "maybe" }, '"auto"|"required"'],
  ["[1].headers.x", { ...good, headers: { x: 1 } }, "expected string"],
  ["[1]", { ...good, defaultaproval: "auto" }, '"defaultaproval"'],
  ["[1]", { ...good, specUrl: "https://other.test" }, '"specUrl"'],
  ["[1]", 7, "expected object"],
  ["[1].auth", { ...good, auth: "s3cret" }, "expected object"],
  ["[1].auth.mode", { ...good, auth: { type: "bearer", token: "s3cret" } }, "'static' | 'workspace' | 'actor'"],
  ["[1].auth.type", { ...good, auth: { mode: "actor", type: "magic" } }, "'oauth2'"],
  ["[1].auth.token", { ...good, auth: { mode: "static", type: "bearer" } }, "expected string"],
  ["[1].auth", { ...good, auth: { mode: "workspace", type: "bearer", token: "s3cret" } }, '"token"'],
  ["[1].auth", { ...good, auth: { mode: "static", type: "apiKey", value: "s3cret" } }, "exactly one of header"],
  ["[1].auth.password", { ...good, auth: { mode: "static", type: "basic", username: "u" } }, "expected string"],
];
test.each(wrong)("%s is named: %j", (field, source, says) => {
  let message = "";
  try {
    read([good, source]);
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message).toStartWith(`EXECUTOR_TOOL_SOURCES${field}: `);
  expect(message).toContain(says);
  expect(message).not.toContain("s3cret");
});

test.each(["nonsense s3cret", '{"a":1}', '"[]"'])("what is no list of sources is refused: %s", (text) => {
  expect(() => readToolSources({ EXECUTOR_TOOL_SOURCES: text })).toThrow(/^EXECUTOR_TOOL_SOURCES must be (?!.*s3cret)/);
});
