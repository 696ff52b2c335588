/** Written by hand: what published documents hardly hold and the specification allows, and what it does not allow and people write. */
import { afterAll, describe, expect, test } from "bun:test";
import type { SourceIndex } from "@executor/core/ports/source";
import { openDocument, readDocument } from "@executor/testkit/openapi-corpus/corpus-source";
import { startEchoServer } from "@executor/testkit/openapi-corpus/echo-server";
import { serverUrl } from "./invoke/server-url.ts";

const echo = startEchoServer();
afterAll(() => echo.stop());

const ok = { responses: { 200: { description: "" } } };
const doc = (paths: object, more: object = {}): Record<string, unknown> => ({
  openapi: "3.1.0",
  info: { title: "T", version: "1" },
  paths,
  ...more,
});
const answers = (schema: unknown): object => ({
  responses: { 200: { description: "", content: { "application/json": { schema } } } },
});
const toolOf = (index: SourceIndex, name: string) => {
  const tool = index.tools.find((each) => each.name === name);
  if (tool === undefined) throw new Error(`no ${name} among ${index.tools.map((each) => each.name).join(", ")}`);
  return tool;
};
const signature = async (index: SourceIndex, name: string): Promise<string> =>
  (await openDocument(index, echo.url).tools.shape(toolOf(index, name))).signature;
/** What arrives when a tool is called: target and body. */
const sent = async (index: SourceIndex, name: string, input: object): Promise<string> => {
  await openDocument(index, echo.url).call(toolOf(index, name), input);
  const got = echo.taken();
  return got === null ? "nothing" : `${got.method} ${got.target} ${new TextDecoder().decode(got.body)}`.trim();
};
const operationOf = (index: SourceIndex, name: string) => {
  const { at, length } = toolOf(index, name);
  return JSON.parse(index.details.slice(at, at + length));
};

describe("schemas of 3.1", () => {
  const schema = {
    $id: "https://schemas.test/thing",
    $defs: { In: { type: ["string", "null"] } },
    type: "object",
    properties: {
      local: { $ref: "#/$defs/In" },
      rooted: { $ref: "#/components/schemas/Other" },
      named: { $ref: "#anchor" },
      sibling: { $ref: "other" },
      again: { type: "array", items: { $dynamicRef: "#node" } },
      pair: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false },
      fixed: { const: "x" },
      any: true,
      never: false,
      count: { $anchor: "anchor", type: "integer" },
    },
    required: ["local", "unheard"],
    $dynamicAnchor: "node",
  };
  const schemas = {
    Thing: schema,
    Other: { $id: "https://schemas.test/other", type: "boolean" },
    Far: { properties: { thing: { $ref: "https://schemas.test/thing" } } },
  };

  test("are reached by pointer, by $id, by anchor and dynamically", async () => {
    const index = await readDocument(
      doc(
        {
          "/a": { get: answers({ $ref: "#/components/schemas/Thing" }) },
          "/b": { get: answers({ $ref: "#/components/schemas/Far" }) },
        },
        { components: { schemas } },
      ),
    );
    expect(index.warnings).toEqual([]);
    const shape = await signature(index, "a.get_a");
    for (const part of [
      "local: string | null",
      "rooted?: boolean",
      "named?: number",
      "sibling?: boolean",
      "pair?: [string, number]",
      'fixed?: "x"',
      "any?: unknown",
      "never?: never",
    ])
      expect(shape).toContain(part);
    const { outputSchema } = await openDocument(index, echo.url).tools.shape(toolOf(index, "a.get_a"));
    expect(JSON.stringify(outputSchema)).toContain('"again":{"type":"array","items":{"$ref":"#/$defs/Thing"}}');
    expect(await signature(index, "b.get_b")).toContain("thing?: { local: string | null");
  });

  test("that allow everything or nothing, or go round, stay usable", async () => {
    const cycle = {
      A: { allOf: [{ $ref: "#/components/schemas/B" }, { properties: { a: { type: "string" } } }] },
      B: { allOf: [{ $ref: "#/components/schemas/A" }, { properties: { b: { type: "string" } } }] },
    };
    const body = (given: unknown): object => ({
      requestBody: { content: { "application/json": { schema: given } } },
      ...ok,
    });
    const index = await readDocument(
      doc(
        {
          "/a": { post: body({ $ref: "#/components/schemas/A" }) },
          "/t": { post: body(true) },
          "/f": { post: body(false) },
        },
        { components: { schemas: cycle } },
      ),
    );
    expect(await sent(index, "a.post_a", { a: "1", b: "2" })).toBe('POST /a {"a":"1","b":"2"}');
    expect(await sent(index, "t.post_t", { body: [1] })).toBe("POST /t [1]");
    expect(await signature(index, "f.post_f")).toContain("body?");
  });

  test("nested two thousand deep, or ten thousand references long, are read in time", async () => {
    let deep: object = { type: "string" };
    for (let n = 0; n < 2_000; n++) deep = n % 2 === 0 ? { properties: { p: deep } } : { allOf: [deep] };
    const chain = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, n) => [`S${n}`, { allOf: [{ $ref: `#/components/schemas/S${n + 1}` }] }]),
    );
    const body = (given: unknown): object => ({
      requestBody: { content: { "application/json": { schema: given } } },
      ...ok,
    });
    const startedAt = performance.now();
    const index = await readDocument(
      doc(
        { "/a": { post: body(deep) }, "/b": { post: body({ $ref: "#/components/schemas/S0" }) } },
        { components: { schemas: { ...chain, S10000: { properties: { end: { type: "string" } } } } } },
      ),
    );
    for (const name of ["a.post_a", "b.post_b"]) expect((await signature(index, name)).length).toBeLessThan(2_000);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    const brackets = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
    const hostile = `{"openapi":"3.0.0","paths":{"/a":{"get":{"responses":{"200":{"content":{"application/json":{"schema":{"properties":{"q":${brackets}}}}}}}}}}}`;
    expect((await readDocument(hostile)).tools).toHaveLength(1);
  });
});

describe("paths", () => {
  test("by reference keep what stands beside it", async () => {
    const index = await readDocument(
      doc(
        { "/a": { $ref: "#/components/pathItems/A", post: { operationId: "own", ...ok } } },
        { components: { pathItems: { A: { get: { operationId: "shared", ...ok } } } } },
      ),
    );
    expect(index.tools.map(({ name }) => name).toSorted()).toEqual(["a.own", "a.shared"]);
    expect(index.warnings).toEqual([]);
  });

  test("odd as they may be are sent as they are written", async () => {
    const query = (name: string): object => ({
      parameters: [{ name, in: "query", schema: { type: "string" } }],
      ...ok,
    });
    const path = (name: string): object => ({ parameters: [{ name, in: "path", schema: { type: "string" } }], ...ok });
    const cases: [string, object, object, string][] = [
      ["", ok, {}, "/"],
      ["/", ok, {}, "/"],
      ["/a/", ok, {}, "/a/"],
      ["b/c", ok, {}, "/b/c"],
      ["/q?x=1&y", ok, {}, "/q?x=1&y"],
      ["/f#Action=Stop", ok, {}, "/f"],
      ["/m?mode=fast", query("mode"), {}, "/m?mode=fast"],
      ["/n?mode=fast", query("mode"), { mode: "slow" }, "/n?mode=slow"],
      ["/o?q={q}", query("q"), { q: "a&b" }, "/o?q=a%26b"],
      ["/p?q={q}", query("q"), {}, "/p"],
      ["/w?key={word}", path("word"), { key: "x y" }, "/w?key=x%20y"],
      ["/y?{by}=1", path("by"), { by: "2" }, "/y?by=2"],
      ["/x?key={word}", ok, { key: "z" }, "/x?key=z"],
      ["/r{?q}", query("q"), { q: "x" }, "/r?q=x"],
      ["/s/{id*}", path("id"), { id: "a/b" }, "/s/a%2Fb"],
      ["/t/{+name}", path("name"), { name: "projects/x y" }, "/t/projects/x%20y"],
      ["/u/{a}:stop", ok, { a: "1" }, "/u/1:stop"],
      ["/v/{a}/{a}", ok, { a: "1" }, "/v/1/1"],
      ["/ä/{}", ok, {}, "/%C3%A4/%7B%7D"],
    ];
    const index = await readDocument(doc(Object.fromEntries(cases.map(([at, operation]) => [at, { get: operation }]))));
    expect(new Set(index.tools.map(({ name }) => name)).size).toBe(cases.length);
    for (const [at, , input, wanted] of cases) {
      const tool = index.tools.find((each) => operationOf(index, each.name).path === at);
      expect(await sent(index, tool?.name ?? at, input), at).toBe(`GET ${wanted}`);
    }
    const escape = openDocument(index, echo.url).call(toolOf(index, "t.get_t_by_name"), { name: "a/../../admin" });
    expect(escape).rejects.toMatchObject({ code: "call.input_invalid" });
  });

  test("with methods that cannot be sent lose those, with a warning; all others are tools", async () => {
    const index = await readDocument(
      doc(
        { "/a": { query: ok, trace: ok, additionalOperations: { PURGE: ok, LIST: ok, CONNECT: ok } } },
        { openapi: "3.2.0" },
      ),
    );
    expect(index.tools.map(({ name }) => name)).toEqual(["a.query_a", "a.trace_a", "a.purge_a"]);
    expect(index.warnings).toEqual([
      "LIST /a is left out: requests of this method cannot be sent.",
      "CONNECT /a is left out: requests of this method cannot be sent.",
    ]);
    expect(await sent(index, "a.purge_a", {})).toBe("PURGE /a");
    expect(await sent(index, "a.trace_a", {})).toBe("TRACE /a");
  });
});

describe("servers", () => {
  const where = (index: SourceIndex, name: string, documentUrl: string | null): string => {
    const servers = operationOf(index, name).servers ?? JSON.parse(index.metaJson).servers;
    return serverUrl({ servers }, { baseUrl: null, documentUrl, serverVariables: {} }).href;
  };

  test("of the operation come before those of the path and the document; relative ones lead from the document", async () => {
    const variables = { x: { default: "d", enum: ["d"] }, v: { default: 1 } };
    const index = await readDocument(
      doc(
        {
          "/a": {
            servers: [{ url: "../path" }],
            get: { servers: [{ url: "https://{x}.op.test/v{v}", variables }], ...ok },
            post: ok,
            put: { servers: [], ...ok },
          },
          "/b": { get: ok },
        },
        { servers: [{ url: "/root" }] },
      ),
    );
    const from = "https://docs.test/api/openapi.json";
    expect(where(index, "a.get_a", from)).toBe("https://d.op.test/v1");
    expect(where(index, "a.post_a", from)).toBe("https://docs.test/path");
    expect(where(index, "a.put_a", from)).toBe("https://docs.test/path");
    expect(where(index, "b.get_b", from)).toBe("https://docs.test/root");
  });

  test("with a gap that nothing fills ask for it, and are no host without a name", async () => {
    const index = await readDocument(
      doc({ "/a": { get: ok } }, { servers: [{ url: "https://{shop}.test", variables: { shop: {} } }] }),
    );
    expect(() => where(index, "a.get_a", null)).toThrow("serverVariables.shop");
  });

  test("of Azure's documents are made of parameters", async () => {
    const at = async (host: object, serverVariables: Record<string, string> = {}): Promise<string> => {
      const index = await readDocument({
        swagger: "2.0",
        info: { title: "", version: "" },
        basePath: "/v1",
        schemes: ["https"],
        parameters: { Account: { name: "account", in: "path", required: true, type: "string" } },
        "x-ms-parameterized-host": {
          ...host,
          parameters: [
            { $ref: "#/parameters/Account" },
            { name: "suffix", in: "path", type: "string", default: "blob.test" },
          ],
        },
        paths: { "/a": { get: ok } },
      });
      const context = { baseUrl: null, documentUrl: "https://docs.test/a.json", serverVariables };
      return serverUrl({ servers: JSON.parse(index.metaJson).servers }, context).href;
    };
    const template = { hostTemplate: "{account}.{suffix}" };
    expect(await at(template, { account: "mine" })).toBe("https://mine.blob.test/v1");
    await expect(at(template)).rejects.toThrow("serverVariables.account");
    await expect(at(template, { account: "evil.test/" })).rejects.toThrow("baseUrl");
    const whole = { hostTemplate: "https://x.{suffix}/face", useSchemePrefix: false };
    expect(await at(whole)).toBe("https://x.blob.test/face/v1");
  });

  test("and references are relative to what a document of 3.2 calls itself", async () => {
    const index = await readDocument(
      doc(
        { "/a": { get: answers({ $ref: "https://self.test/v1/openapi.json#/components/schemas/S" }) } },
        {
          openapi: "3.2.0",
          $self: "https://self.test/v1/openapi.json",
          servers: [{ url: "api" }],
          components: { schemas: { S: { type: "integer" } } },
        },
      ),
    );
    expect(index.warnings).toEqual([]);
    expect(await signature(index, "a.get_a")).toContain("Promise<number>");
    expect(where(index, "a.get_a", JSON.parse(index.metaJson).documentUrl)).toBe("https://self.test/v1/api");
  });
});

describe("operations", () => {
  test("say what is needed to call them, in alternatives and with none", async () => {
    const schemes = {
      a: { type: "http", scheme: "Bearer" },
      b: { type: "oauth2", flows: {} },
      c: { type: "apiKey", in: "cookie", name: "c" },
      d: { type: "openIdConnect", openIdConnectUrl: "https://id.test" },
    };
    const index = await readDocument(
      doc(
        {
          "/a": {
            get: { security: [{ b: ["x"], c: [] }, { d: [] }, {}], ...ok },
            post: { security: [], ...ok },
            put: ok,
          },
        },
        { security: [{ a: [] }], components: { securitySchemes: schemes } },
      ),
    );
    const types = (name: string) =>
      operationOf(index, name).security.map((needs: { type: string }[]) => needs.map(({ type }) => type));
    expect(types("a.get_a")).toEqual([["oauth2", "apiKey"], ["openIdConnect"], []]);
    expect(types("a.post_a")).toEqual([]);
    expect(types("a.put_a")).toEqual([["bearer"]]);
    const open = (name: string): unknown => operationOf(index, name).open;
    expect([open("a.get_a"), open("a.post_a"), open("a.put_a")]).toEqual([undefined, true, undefined]);
    const none = await readDocument(doc({ "/a": { get: { security: [], ...ok } } }));
    expect(operationOf(none, "a.get_a").open).toBeUndefined();
  });

  test("take the place of their path's parameters, keep reserved characters and send empty values", async () => {
    const param = (name: string, more: object): object => ({ name, in: "query", schema: { type: "string" }, ...more });
    const index = await readDocument(
      doc({
        "/a": {
          parameters: [param("q", { required: true }), param("shared", {})],
          get: {
            parameters: [
              param("q", { allowReserved: true }),
              param("empty", { allowEmptyValue: true }),
              { name: "free", in: "query", example: 3 },
              param("n", { schema: { type: "integer", nullable: true } }),
            ],
            ...ok,
          },
        },
      }),
    );
    expect(await signature(index, "a.get_a")).toContain(
      "q?: string; shared?: string; empty?: string; free?: unknown; n?: number | null",
    );
    expect(await sent(index, "a.get_a", { q: "a/b?c=d&e#f", empty: "", free: 3 })).toBe(
      "GET /a?q=a/b?c=d%26e%23f&empty=&free=3",
    );
  });

  test("answer with ranges, by default only, and by reference", async () => {
    const text = { description: "", content: { "text/plain": { schema: { type: "string" } } } };
    const number = { description: "", content: { "application/json": { schema: { type: "integer" } } } };
    const index = await readDocument(
      doc(
        {
          "/a": { get: { responses: { "2XX": number, default: text } } },
          "/b": { get: { responses: { default: number } } },
          "/c": { get: { responses: { 201: { $ref: "#/components/responses/R" } } } },
        },
        { components: { responses: { R: text } } },
      ),
    );
    expect(await signature(index, "a.get_a")).toContain("Promise<number>");
    expect(await signature(index, "b.get_b")).toContain("Promise<number>");
    expect(await signature(index, "c.get_c")).toContain("Promise<string>");
  });

  test("show bytes as base64 also where only the media type says so, and which properties are required together", async () => {
    const index = await readDocument(
      doc({
        "/a": {
          put: {
            requestBody: { required: true, content: { "application/x-tar": { schema: { type: "string" } } } },
            ...ok,
          },
        },
        "/b": {
          post: {
            requestBody: {
              required: true,
              content: {
                "application/json": {
                  schema: {
                    type: "object",
                    properties: { id: { type: "string" }, name: { type: "string" } },
                    oneOf: [{ required: ["id"] }, { required: ["name"] }, { required: ["unheard"] }],
                  },
                },
              },
            },
            ...ok,
          },
        },
        "/c": {
          post: { requestBody: { content: { "": { schema: { type: "object", properties: { x: {} } } } } }, ...ok },
        },
        "/d": {
          post: {
            requestBody: {
              content: {
                "application/x-www-form-urlencoded": { schema: { type: "array", items: { type: "object" } } },
              },
            },
            ...ok,
          },
        },
      }),
    );
    expect(await signature(index, "a.put_a")).toContain("body: string | { base64: string");
    expect(await sent(index, "a.put_a", { body: "aGVsbG8=" })).toBe("PUT /a hello");
    const { inputSchema } = await openDocument(index, echo.url).tools.shape(toolOf(index, "b.post_b"));
    expect(inputSchema.allOf).toEqual([
      { oneOf: [{ required: ["id"] }, { required: ["name"] }, { required: ["unheard"] }] },
    ]);
    expect(await signature(index, "b.post_b")).toBe(
      "(input?: { id?: string; name?: string; unheard?: unknown }) => Promise<null>",
    );
    expect(await sent(index, "b.post_b", { unheard: 1 })).toBe('POST /b {"unheard":1}');
    expect(await sent(index, "c.post_c", { x: 1 })).toBe('POST /c {"x":1}');
    expect(await sent(index, "d.post_d", { body: [{ a: 1 }, { a: 2 }] })).toBe("POST /d 0%5Ba%5D=1&1%5Ba%5D=2");
  });

  test("write multipart by style where the version knows it", async () => {
    const multipart = (openapi: string): Record<string, unknown> =>
      doc(
        {
          "/a": {
            post: {
              requestBody: {
                content: {
                  "multipart/form-data": {
                    schema: { type: "object", properties: { list: { type: "array" }, deep: { type: "object" } } },
                    encoding: {
                      list: { style: "pipeDelimited", explode: false },
                      deep: { style: "deepObject", explode: true },
                    },
                  },
                },
              },
              ...ok,
            },
          },
        },
        { openapi },
      );
    const parts = async (openapi: string): Promise<[string, unknown][]> => {
      const index = await readDocument(multipart(openapi));
      await openDocument(index, echo.url).call(toolOf(index, "a.post_a"), { list: ["x", "y"], deep: { k: 1 } });
      const got = echo.taken();
      return [...(await new Response(got?.body as Uint8Array<ArrayBuffer>, { headers: got?.headers }).formData())] as [
        string,
        unknown,
      ][];
    };
    expect(await parts("3.1.0")).toEqual([
      ["list", "x|y"],
      ["deep[k]", "1"],
    ]);
    expect(await parts("3.0.3")).toEqual([
      ["list", "x"],
      ["list", "y"],
      ["deep[k]", "1"],
    ]);
  });

  test("of nonsense cost themselves and nothing else", async () => {
    const index = await readDocument({
      openapi: "3.0.0",
      info: null,
      servers: null,
      tags: null,
      paths: {
        "/a": {
          parameters: null,
          get: { tags: null, operationId: null, parameters: null, requestBody: null, responses: null, summary: null },
          post: { requestBody: { content: null }, responses: { 200: null } },
          put: { requestBody: { content: { "application/json": null } }, operationId: 5, tags: "one" },
          patch: { parameters: { name: "q", in: "query" }, requestBody: "x", responses: [], servers: {}, summary: 7 },
          delete: "nothing",
        },
        "/b": [],
        "x-own": { get: {} },
      },
    });
    expect(index.tools.map(({ name }) => name)).toEqual(["a.get_a", "a.post_a", "a._5", "a.patch_a"]);
    for (const { name } of index.tools) expect(await signature(index, name)).toStartWith("(input");
    expect(index.warnings).toEqual([
      "/a has parameters that are no list; they are left out.",
      "DELETE /a is no operation and is left out.",
      'The path "/b" holds no operations.',
    ]);
  });
});
