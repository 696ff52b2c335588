/**
 * One session of revision 2025-11-25 in the memory of this instance: the SDK's server and transport, and what it waits for. It holds nothing
 * that could not be made again from the session's row: another instance, or this one after a restart, does that.
 */
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type { Bearer } from "../http/authenticate.ts";
import type { McpParts } from "./mcp-parts.ts";
import { createStatefulServer, toAuthInfo } from "./mcp-server.ts";
import { RecentMessages } from "./recent-messages.ts";
import type { Tickets } from "./sealed-tickets.ts";
import { OpenQuestions } from "./stateful-turn.ts";

export interface StatefulSession {
  readonly sessionHash: string;
  readonly questions: OpenQuestions;
  /** Of a request that is being answered here. */
  taskOf(requestId: unknown): string | undefined;
  usedAt: number;
  /** Calls under way and open streams. */
  isBusy(): boolean;
  handle(request: Request, caller: Bearer, parsedBody?: unknown): Promise<Response>;
  close(): Promise<void>;
}

/** After which a client comes back when its stream broke. */
const RETRY_MS = 1_000;

interface Opened {
  sessionId: string;
  sessionHash: string;
}

export async function openStatefulSession(
  parts: McpParts,
  tickets: Tickets,
  { sessionId, sessionHash }: Opened,
): Promise<StatefulSession> {
  const questions = new OpenQuestions();
  const tasks = new Map<unknown, string>();
  let busy = 0;
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => sessionId,
    eventStore: new RecentMessages(),
    retryInterval: RETRY_MS,
  });
  const server = createStatefulServer(parts, tickets, {
    asker: (requestId) => ({
      sessionHash,
      questions,
      send: (message) => transport.send(message, { relatedRequestId: requestId }),
    }),
    requestKey: (requestId) => requestKeyOf(sessionHash, requestId),
    onTask: (requestId, taskId) => tasks.set(requestId, taskId),
    onEnd: (requestId) => tasks.delete(requestId),
  });
  await server.connect(transport);
  return {
    sessionHash,
    questions,
    taskOf: (requestId) => tasks.get(requestId),
    usedAt: parts.deps.host.monotonicMs(),
    isBusy: () => busy > 0 || tasks.size > 0,
    async handle(request, caller, parsedBody) {
      const authInfo = toAuthInfo(caller);
      const options = { authInfo, ...(parsedBody !== undefined && { parsedBody }) };
      const response = await transport.handleRequest(request, options);
      if (request.method === "GET" && response.status === 200 && !request.signal.aborted) {
        busy++;
        request.signal.addEventListener("abort", () => busy--, { once: true });
      }
      return response;
    },
    close: () => server.close(),
  };
}

/** Tells a request apart from all others of its actor: the key under which its task is found again. */
export const requestKeyOf = (sessionHash: string, requestId: unknown): string =>
  `mcp:${sessionHash.slice(0, 40)}:${String(JSON.stringify(requestId)).slice(0, 120)}`;
