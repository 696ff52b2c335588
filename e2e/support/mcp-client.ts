/** A real client of either revision at the `/mcp` of an installation, with a person who answers what it is asked. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

export type Revision = "2025-11-25" | "2026-07-28";
export const revisions: Revision[] = ["2025-11-25", "2026-07-28"];

export interface Asked {
  mode?: string;
  message: string;
  requestedSchema?: unknown;
  url?: string;
}
export type Answer = { action: "accept"; content?: Record<string, unknown> } | { action: "decline" | "cancel" };

export interface McpClient {
  client: Client;
  transport: StreamableHTTPClientTransport;
  asked: Asked[];
  call(name: string, input: Record<string, unknown>, options?: CallOptions): Promise<ToolAnswer>;
  close(): Promise<void>;
}

export interface CallOptions {
  signal?: AbortSignal;
  timeout?: number;
  onprogress?: (progress: { progress: number; message?: string }) => void;
}

export interface ToolAnswer {
  text: string;
  isError: boolean;
  data: Record<string, unknown> & { taskId: string; status: string };
}

export interface ClientOptions {
  url: string;
  token?: string | undefined;
  revision?: Revision;
  /** Null: the client cannot ask. */
  answer?: ((asked: Asked) => Answer | Promise<Answer>) | null;
  modes?: { form?: Record<string, never>; url?: Record<string, never> };
}

export async function connectMcp({
  url,
  token,
  revision = "2025-11-25",
  answer = null,
  modes,
}: ClientOptions): Promise<McpClient> {
  const asked: Asked[] = [];
  const client = new Client(
    { name: "e2e", version: "1.0.0" },
    {
      capabilities: answer ? { elicitation: modes ?? { form: {} } } : {},
      ...(revision === "2026-07-28" && { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
    },
  );
  if (answer)
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.push(params as Asked);
      return (await answer(params as Asked)) as never;
    });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  return {
    client,
    transport,
    asked,
    async call(name, input, options = {}) {
      const result = await client.callTool({ name, arguments: input }, { timeout: 30_000, ...options });
      const [block] = result.content as { text?: string }[];
      return {
        text: block?.text ?? "",
        isError: result.isError === true,
        data: result.structuredContent as ToolAnswer["data"],
      };
    },
    close: () => client.close(),
  };
}
