/** A small API on loopback with an OpenAPI document, made to be connected as a source: reads, writes, auth, errors, secrets. */
export interface OpenapiServer {
  url: string;
  /** Every request it got, in order. */
  seen: { method: string; path: string; query: string; headers: Record<string, string>; body: string }[];
  /** Changes what it serves as its document. */
  document: Record<string, unknown>;
  stop(): Promise<void>;
}

export function startOpenapiServer(options: { token?: string } = {}): OpenapiServer {
  const seen: OpenapiServer["seen"] = [];
  const pets = new Map<number, unknown>([[1, { id: 1, name: "Rex" }]]);
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const url = new URL(request.url);
      if (url.pathname === "/openapi.json") return Response.json(self.document);
      const body = await request.text();
      const headers = Object.fromEntries(request.headers);
      seen.push({ method: request.method, path: url.pathname, query: url.search, headers, body });
      if (options.token !== undefined && headers["authorization"] !== `Bearer ${options.token}`)
        return Response.json({ message: "who are you?" }, { status: 401 });
      if (url.pathname === "/pets" && request.method === "GET") return Response.json([...pets.values()]);
      if (url.pathname === "/pets" && request.method === "POST") {
        const pet = { id: pets.size + 1, ...(JSON.parse(body) as object) };
        pets.set(pet.id, pet);
        return Response.json(pet, { status: 201 });
      }
      if (url.pathname === "/echo") return Response.json({ headers, query: url.search });
      const found = pets.get(Number(url.pathname.split("/")[2]));
      return found ? Response.json(found) : Response.json({ message: "no such pet" }, { status: 404 });
    },
  });
  const url = `http://127.0.0.1:${server.port}`;
  const self: OpenapiServer = { url, seen, document: petDocument(url), stop: () => server.stop(true) };
  return self;
}

const answer = (schema: object) => ({ 200: { description: "ok", content: { "application/json": { schema } } } });
const id = { name: "petId", in: "path", required: true, schema: { type: "integer" } };

export function petDocument(url: string): Record<string, unknown> {
  const pet = { $ref: "#/components/schemas/Pet" };
  return {
    openapi: "3.1.0",
    info: { title: "Pets", version: "1" },
    servers: [{ url }],
    paths: {
      "/pets": {
        get: {
          operationId: "listPets",
          tags: ["pets"],
          summary: "List all pets",
          responses: answer({ type: "array", items: pet }),
        },
        post: {
          operationId: "createPet",
          tags: ["pets"],
          summary: "Create a pet",
          requestBody: {
            required: true,
            content: { "application/json": { schema: { $ref: "#/components/schemas/NewPet" } } },
          },
          responses: answer(pet),
        },
      },
      "/pets/{petId}": {
        get: {
          operationId: "getPet",
          tags: ["pets"],
          summary: "Get a pet by its id",
          parameters: [id],
          responses: answer(pet),
        },
      },
      "/echo": { get: { operationId: "echo", tags: ["debug"], summary: "Show what was sent", responses: answer({}) } },
    },
    components: {
      schemas: {
        NewPet: {
          type: "object",
          required: ["name"],
          properties: { name: { type: "string" }, tag: { type: "string" } },
        },
        Pet: { type: "object", properties: { id: { type: "integer" }, name: { type: "string" } } },
      },
    },
  };
}
