/**
 * An API as calls through a source meet it, in a process of its own: its document, and two operations that answer a small JSON
 * at once. Counts what it was sent, so that a call that never left is no fast call. Prints its port.
 */
const counts = { GET: 0, POST: 0 };
const operation = (operationId: string, more: object) => ({
  operationId,
  responses: { 200: { description: "ok", content: { "application/json": { schema: { type: "object" } } } } },
  ...more,
});
const idParameter = { name: "id", in: "path", required: true, schema: { type: "integer" } };
const bodySchema = { type: "object", properties: { value: { type: "integer" }, note: { type: "string" } } };

const server: Bun.Server<undefined> = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/openapi.json") return Response.json(document());
    if (pathname === "/counts") return Response.json(counts);
    if (request.headers.get("authorization") !== "Bearer bench-secret-of-the-api")
      return new Response(null, { status: 401 });
    counts[request.method as keyof typeof counts]++;
    const value = request.method === "POST" ? ((await request.json()) as { value: number }).value : 0;
    return Response.json({ id: pathname.slice(8), value, name: "a thing", tags: ["one", "two"], url: request.url });
  },
});

const document = (): object => ({
  openapi: "3.1.0",
  info: { title: "Things", version: "1" },
  servers: [{ url: `http://127.0.0.1:${server.port}` }],
  components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
  security: [{ token: [] }],
  paths: {
    "/things/{id}": { get: operation("getThing", { tags: ["things"], parameters: [idParameter] }) },
    "/things": {
      post: operation("createThing", {
        tags: ["things"],
        requestBody: { required: true, content: { "application/json": { schema: bodySchema } } },
      }),
    },
  },
});

console.log(JSON.stringify({ msg: "server.listening", port: server.port }));
