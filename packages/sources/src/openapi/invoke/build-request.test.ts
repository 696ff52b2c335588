import { expect, test } from "bun:test";
import { AppError } from "@executor/contracts/error";
import type { Body, Operation, Param } from "../operation.ts";
import { buildRequest, type RequestContext } from "./build-request.ts";
import { serverUrl } from "./server-url.ts";

const param = (name: string, place: Param["in"], more: Partial<Param> = {}): Param => ({
  name,
  in: place,
  arg: name,
  required: place === "path",
  style: place === "path" || place === "header" ? "simple" : "form",
  explode: place === "query" || place === "cookie",
  allowReserved: false,
  contentType: null,
  schema: { type: "string" },
  description: "",
  ...more,
});
const operation = (more: Partial<Operation> = {}): Operation => ({
  method: "POST",
  path: "/things",
  servers: [],
  params: [],
  body: null,
  responses: [],
  security: [],
  deprecated: false,
  ...more,
});
const bodyOf = (contentType: string, schema: object, fields: string[] | null = null, encoding: object = {}): Body => ({
  required: true,
  contents: [{ contentType, schema: schema as Record<string, unknown>, encoding: encoding as never }],
  fields,
  description: "",
});
const context: RequestContext = {
  resolve: () => null,
  server: new URL("https://api.example.com/v1/"),
  headers: {},
  authPlaces: [],
  toolPath: "api.things",
  callId: "call_1",
};
const build = (made: Operation, input: unknown, more: Partial<RequestContext> = {}) =>
  buildRequest(made, input, { ...context, ...more });
const problemsOf = (made: Operation, input: unknown, more: Partial<RequestContext> = {}): string[] => {
  try {
    build(made, input, more);
  } catch (error) {
    if (error instanceof AppError && error.code === "call.input_invalid") return error.data?.["problems"] as string[];
    throw error;
  }
  return [];
};

test("S16: a path parameter never leaves its segment", () => {
  const made = operation({ method: "GET", path: "/files/{id}/meta", params: [param("id", "path")] });
  const sent = (id: string) => new URL(build(made, { id }).url).pathname;
  expect(sent("../../admin")).toBe("/v1/files/..%2F..%2Fadmin/meta");
  expect(sent("%2f..")).toBe("/v1/files/%252f../meta");
  expect(sent("a?b#c\\d")).toBe("/v1/files/a%3Fb%23c%5Cd/meta");
  expect(sent("...")).toBe("/v1/files/.../meta");
  for (const id of [".", "..", ""]) expect(problemsOf(made, { id })[0]).toContain("id may not be empty");
  const two = operation({ path: "/x/{a}{b}", params: [param("a", "path"), param("b", "path")] });
  expect(problemsOf(two, { a: ".", b: "." })).toHaveLength(1);
  expect(build(two, { a: ".", b: "x" }).url).toEndWith("/x/.x");
});

test("S16: a path of the document cannot continue the host", () => {
  const made = operation({ path: "@evil.example/x" });
  expect(new URL(build(made, {}, { server: new URL("https://api.example.com") }).url).host).toBe("api.example.com");
});

test("S16: a header value cannot begin another header, and who asks is never the input's to say", () => {
  const made = operation({
    params: [param("X-Note", "header"), param("Authorization", "header"), param("X-Key", "header", { required: true })],
  });
  const authPlaces = [{ in: "header", name: "x-key" }];
  expect(problemsOf(made, { "X-Note": "a\r\nX-Evil: 1" }, { authPlaces })[0]).toContain("X-Note holds characters");
  expect(problemsOf(made, { Authorization: "Bearer x", "X-Key": "k" }, { authPlaces })).toHaveLength(2);
  expect(build(made, { "X-Note": "fine" }, { authPlaces }).headers).toContainEqual(["X-Note", "fine"]);
});

test("all problems of an input are told at once, with the nearest names", () => {
  const made = operation({
    path: "/{owner}",
    params: [param("owner", "path"), param("page", "query", { required: true })],
  });
  const problems = problemsOf(made, { ownr: "x" });
  expect(problems).toHaveLength(3);
  expect(problems.join()).toContain("did you mean owner");
});

test("S17: names of JavaScript's own are names like any other", () => {
  const made = operation({ params: [param("constructor", "query"), param("__proto__", "query", { arg: "_proto_" })] });
  expect(build(made, { constructor: "a", _proto_: "b" }).url).toEndWith("?constructor=a&__proto__=b");
  expect(problemsOf(operation(), JSON.parse('{"__proto__": 1}'))).toHaveLength(1);
});

test("flat fields are gathered into a JSON body; more are taken where the schema allows them", () => {
  const schema = { type: "object", properties: { title: {}, n: {} }, required: ["title"], additionalProperties: true };
  const made = operation({ body: bodyOf("application/json", schema, ["title", "n"]) });
  expect(build(made, { title: "x", other: [1] }).body).toBe('{"title":"x","other":[1]}');
  expect(build(made, { body: { title: "y" } }).body).toBe('{"title":"y"}');
  expect(problemsOf(made, { n: 1 })[0]).toContain("title");
  expect(problemsOf(made, {})[0]).toContain("title");
  expect(problemsOf(made, { body: {}, title: "x" })[0]).toContain("not both");
});

test("cookies, content parameters and the key against repetition", () => {
  const made = operation({
    params: [
      param("sid", "cookie"),
      param("filter", "query", { contentType: "application/json" }),
      param("Idempotency-Key", "header"),
    ],
  });
  const { url, headers } = build(made, { sid: "a;b", filter: { a: [1] } });
  expect(url).toEndWith("?filter=%7B%22a%22%3A%5B1%5D%7D");
  expect(headers).toContainEqual(["Cookie", "sid=a%3Bb"]);
  expect(headers).toContainEqual(["Idempotency-Key", "call_1"]);
});

test("forms and files arrive as a server reads them", async () => {
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const form = await request.formData();
      const read = await Promise.all(
        [...form].map(async ([name, value]) => {
          const item = value as string | File;
          // Bun takes a file's type from its name, so types are looked for in the bytes, below.
          return [name, typeof item === "string" ? item : [item.name, await item.text()]];
        }),
      );
      return Response.json(read);
    },
  });
  const send = async (made: Operation, input: unknown) => {
    const { url, headers, body, method } = build(made, input, { server: new URL(server.url) });
    return (await fetch(url, { method, headers, body: body as BodyInit })).json();
  };
  const binary = { type: "string", format: "binary" };
  const schema = {
    type: "object",
    properties: {
      file: binary,
      many: { type: "array", items: binary },
      note: { type: "string" },
      meta: { type: "object" },
    },
  };
  const multipart = operation({ body: bodyOf("multipart/form-data", schema, ["file", "many", "note", "meta"]) });
  const base64 = btoa("hello");
  const file = { base64, filename: 'a"\r\nb.txt', contentType: "text/csv" };
  expect(await send(multipart, { file, many: [base64, base64], note: "é\r\n--x", meta: { a: 1 } })).toEqual([
    ["file", ["a%22%0D%0Ab.txt", "hello"]],
    ["many", ["many", "hello"]],
    ["many", ["many", "hello"]],
    ["note", "é\r\n--x"],
    ["meta", '{"a":1}'],
  ]);
  const bytes = Buffer.from(build(multipart, { file, many: [base64] }).body as Uint8Array).toString();
  expect(bytes).toContain('.txt"\r\nContent-Type: text/csv\r\n\r\nhello\r\n');
  expect(bytes).toContain('filename="many"\r\nContent-Type: application/octet-stream\r\n\r\nhello\r\n');
  expect(problemsOf(multipart, { file: "not base64!" })[0]).toContain("base64");
  const encoding = { deep: { style: "deepObject", explode: true }, csv: { style: "form", explode: false } };
  const form = operation({
    body: bodyOf("application/x-www-form-urlencoded", { type: "object" }, ["a", "deep", "csv", "o"], encoding),
  });
  expect(await send(form, { a: ["1 &", 2], deep: { x: { y: [1] } }, csv: [1, 2], o: { k: "v" } })).toEqual([
    ["a", "1 &"],
    ["a", "2"],
    ["deep[x][y][0]", "1"],
    ["csv", "1,2"],
    ["o", '{"k":"v"}'],
  ]);
});

test("text, bytes and XML", () => {
  const send = (type: string, schema: object, input: unknown) =>
    build(operation({ body: bodyOf(type, schema) }), input).body;
  expect(send("text/plain", { type: "string" }, { body: "hi" })).toBe("hi");
  expect(send("application/xml", { type: "object" }, { body: "<a/>" })).toBe("<a/>");
  expect(Buffer.from(send("image/png", {}, { body: btoa("png") }) as Uint8Array).toString()).toBe("png");
  const pet = {
    type: "object",
    properties: {
      id: { xml: { attribute: true } },
      tags: { type: "array", xml: { wrapped: true }, items: { xml: { name: "tag" } } },
    },
    xml: { name: "pet" },
  };
  expect(send("application/xml", pet, { body: { id: 1, tags: ["<"] } })).toEndWith(
    '<pet id="1"><tags><tag>&lt;</tag></tags></pet>',
  );
});

test("S16: a server is chosen, its gaps are filled, and a value cannot change its shape", () => {
  const at = (url: string, serverVariables: Record<string, string> = {}, baseUrl: string | null = null) =>
    serverUrl(
      { servers: [{ url, variables: { host: { default: "a.example" }, v: { default: "v1", enum: ["v1", "v2"] } } }] },
      { baseUrl, documentUrl: "https://docs.example/api/spec.json", serverVariables },
    ).href;
  expect(at("https://{host}/{v}")).toBe("https://a.example/v1");
  expect(at("https://{host}/{v}", { host: "b.example", v: "v2" })).toBe("https://b.example/v2");
  expect(at("/rest")).toBe("https://docs.example/rest");
  expect(at("../rest")).toBe("https://docs.example/rest");
  expect(at("https://x", {}, "http://base/")).toBe("http://base/");
  for (const host of ["evil/", "x@evil", "evil?", "evil#", "evil\\", "..", "a b"])
    expect(() => at("https://{host}.example.com", { host })).toThrow("may not hold");
  expect(() => at("https://x/{v}", { v: "v3" })).toThrow("must be one of");
  expect(() => at("ftp://x")).toThrow("no http or https URL");
  const none = { baseUrl: null, documentUrl: null, serverVariables: {} };
  expect(() => serverUrl({ servers: [] }, none)).toThrow("Set baseUrl");
  expect(serverUrl({ servers: [] }, { ...none, documentUrl: "https://d.example/x/y" }).href).toBe("https://d.example/");
});
