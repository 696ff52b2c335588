/** An MCP server of 2025-11-25 that answers exactly what it is told to, and what it was sent. Not a good one. */
export interface RpcMessage {
  id?: number | string;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
}

export interface RawServer {
  url: string;
  /** Every message and every other request, in their order. */
  seen: RpcMessage[];
  requests: { method: string; path: string; session: string | null }[];
  stop(): Promise<void>;
}

export type RawHandler = (message: RpcMessage, request: Request) => unknown;

/** A handler gives a result, a whole Response, or undefined for "method not found". */
export function startRawServer(handle: RawHandler, capabilities: object = { tools: {} }): RawServer {
  const seen: RpcMessage[] = [];
  const requests: RawServer["requests"] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      requests.push({ method: request.method, path: pathname, session: request.headers.get("mcp-session-id") });
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const message = (await request.json()) as RpcMessage;
      seen.push(message);
      const answer = (await handle(message, request)) ?? usual(message, capabilities);
      return answer instanceof Response ? answer : Response.json({ jsonrpc: "2.0", id: message.id, ...answer });
    },
  });
  return { url: `http://127.0.0.1:${server.port}/mcp`, seen, requests, stop: () => server.stop(true) };
}

export const result = (value: unknown) => ({ result: value });
export const textResult = (text: string) => result({ content: [{ type: "text", text }] });
export const toolList = (...tools: object[]) =>
  result({ tools: tools.map((tool) => ({ inputSchema: { type: "object" }, ...tool })) });

function usual({ id, method }: RpcMessage, capabilities: object): Response | object {
  if (id === undefined) return new Response(null, { status: 202 });
  if (method === "initialize")
    return result({ protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "raw", version: "1" } });
  return { error: { code: -32_601, message: "method not found" } };
}
