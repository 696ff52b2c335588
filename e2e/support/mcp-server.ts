/** An MCP server of 2025-11-25 on loopback, whose tools may change while it runs and may ask a person something. */
interface Message {
  id?: number | string;
  method?: string;
  params?: Record<string, unknown>;
  result?: { action?: string; content?: unknown };
}

export interface McpServer {
  url: string;
  /** What `tools/list` gives from now on; told to all who listen. */
  setTools(tools: object[]): void;
  /** Names of the tools that were called, and whether the call was finished. */
  calls: { name: string; finished: boolean }[];
  stop(): Promise<void>;
}

/** A tool with `asks` sends that elicitation before it answers with what it was told. */
export function startMcpServer(tools: object[], asks: Record<string, object> = {}): McpServer {
  let listed = tools;
  const calls: McpServer["calls"] = [];
  const listeners = new Set<(message: object) => void>();
  const waiting = new Map<string, (answer: Message) => void>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      if (request.method === "GET") return stream((push) => void listeners.add(push));
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const message = (await request.json()) as Message;
      if (message.id !== undefined && message.method === undefined) waiting.get(String(message.id))?.(message);
      if (message.id === undefined || message.method === undefined) return new Response(null, { status: 202 });
      const { id, method, params } = message;
      if (method === "tools/call") return call(id, String(params?.["name"]));
      const result = { initialize: initialized, "tools/list": { tools: listed }, ping: {} }[method];
      const error = { code: -32_601, message: "method not found" };
      return Response.json({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) });
    },
  });

  function call(id: number | string, name: string): Response {
    const made = { name, finished: false };
    calls.push(made);
    return stream(async (push, close) => {
      const question = asks[name];
      let text = "done";
      if (question) {
        const questionId = crypto.randomUUID();
        const { promise, resolve } = Promise.withResolvers<Message>();
        waiting.set(questionId, resolve);
        push({ id: questionId, method: "elicitation/create", params: question });
        text = JSON.stringify((await promise).result);
      }
      made.finished = true;
      push({ id, result: { content: [{ type: "text", text }] } });
      close();
    });
  }

  return {
    url: `http://127.0.0.1:${server.port}/mcp`,
    calls,
    setTools(next) {
      listed = next;
      for (const push of listeners) push({ method: "notifications/tools/list_changed" });
    },
    stop: () => server.stop(true),
  };
}

const initialized = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: "changing", version: "1.0.0" },
};

function stream(begin: (push: (message: object) => void, close: () => void) => unknown): Response {
  let isOpen = true;
  const body = new ReadableStream({
    start(controller) {
      const push = (message: object): void => {
        if (isOpen) controller.enqueue(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
      };
      const close = (): void => {
        if (isOpen) controller.close();
        isOpen = false;
      };
      controller.enqueue(": here\n\n");
      void begin(push, close);
    },
    cancel: () => void (isOpen = false),
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
