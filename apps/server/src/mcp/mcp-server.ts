/**
 * The SDK's server with our two tools behind it: one for each session (2025-11-25), one for each request (2026-07-28). The SDK speaks
 * the protocol; who calls, what it may do and how a person is asked is ours.
 */
import {
  type AuthInfo,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type jsonSchemaValidator,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type ServerOptions,
} from "@modelcontextprotocol/server";
import type { Bearer } from "../http/authenticate.ts";
import { callTool } from "./call-tools.ts";
import type { McpCall, McpParts } from "./mcp-parts.ts";
import type { Tickets } from "./sealed-tickets.ts";
import { type StatefulAsker, openStatefulTurn } from "./stateful-turn.ts";
import { digestRequest, openStatelessTurn, RequestState, STATE } from "./stateless-turn.ts";
import { listTools, toolNames } from "./tool-list.ts";

const INSTRUCTIONS =
  "Executor runs TypeScript against the tools of the connected sources. Use `execute`: discover, describe, call. Use `resume` for a task that was waiting or still running.";
/** Of the list of tools: what is connected seldom changes, and it is the same caller's each time. */
const LIST_TTL_MS = 60_000;

/** The SDK makes one for every server unless it is given one; we check what comes in ourselves. */
const noValidator: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

export const toAuthInfo = (caller: Bearer): AuthInfo => ({
  // The bearer's token stays at the door.
  token: "",
  clientId: caller.clientId,
  scopes: [],
  extra: { caller },
});

export const callerOf = (authInfo: AuthInfo | undefined): Bearer => {
  const caller = authInfo?.extra?.["caller"] as Bearer | undefined;
  if (!caller) throw new Error("a request came without its caller");
  return caller;
};

function newServer({ deps }: McpParts, options: ServerOptions): Server {
  const server = new Server(
    { name: "executor", title: "Executor", version: deps.version },
    {
      capabilities: { tools: {} },
      instructions: INSTRUCTIONS,
      jsonSchemaValidator: noValidator,
      cacheHints: { "tools/list": { ttlMs: LIST_TTL_MS, cacheScope: "private" } },
      ...options,
    },
  );
  server.onerror = (error) => deps.log.debug("mcp.protocol", { reason: error.message.slice(0, 300) });
  server.setRequestHandler("tools/list", async (_request, ctx) => ({
    tools: await listTools(deps, callerOf(ctx.http?.authInfo)),
  }));
  return server;
}

/** What a session tells about its tools/call requests. */
export interface SessionHooks {
  asker(requestId: string | number): StatefulAsker;
  requestKey(requestId: string | number): string;
  onTask(requestId: string | number, taskId: string): void;
  onEnd(requestId: string | number): void;
}

export function createStatefulServer(parts: McpParts, tickets: Tickets, hooks: SessionHooks): Server {
  const server = newServer(parts, { inputRequired: { legacyShim: false } });
  server.setRequestHandler("tools/call", async ({ params }, ctx) => {
    refuseUnknown(params.name);
    const { id } = ctx.mcpReq;
    const call: McpCall = {
      caller: callerOf(ctx.http?.authInfo),
      canShow: readCapabilities(server.getClientCapabilities()),
      requestKey: hooks.requestKey(id),
      signal: ctx.mcpReq.signal,
      progress: progressOf(ctx),
      onTask: (taskId) => hooks.onTask(id, taskId),
    };
    const turn = openStatefulTurn(parts, tickets, call, hooks.asker(id));
    try {
      return await callTool(parts, call, turn, { name: params.name, input: params.arguments });
    } finally {
      turn.close();
      hooks.onEnd(id);
    }
  });
  return server;
}

export function createStatelessServer(parts: McpParts, tickets: Tickets): Server {
  const server = newServer(parts, {
    requestState: {
      async verify(state, ctx) {
        const opened = await tickets.open(STATE, callerOf(ctx.http?.authInfo), state, RequestState);
        if (!opened) throw new Error("the request state does not open");
        return opened;
      },
    },
  });
  server.setRequestHandler("tools/call", async ({ params }, ctx) => {
    refuseUnknown(params.name);
    const caller = callerOf(ctx.http?.authInfo);
    const request = digestRequest(params.name, params.arguments);
    const state = ctx.mcpReq.requestState<RequestState>() ?? null;
    if (state && state.request !== request)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "This requestState was given for another request.");
    const answers = ctx.mcpReq.inputResponses ?? {};
    const turn = await openStatelessTurn(parts, tickets, caller, { request, state, answers });
    const cancel = cancelOnAbort(parts, caller, ctx.mcpReq.signal);
    if (state && params.name !== "resume") cancel.watch(state.taskId);
    const call: McpCall = {
      caller,
      canShow: readCapabilities(
        (ctx.mcpReq.envelope as Record<string, ClientCapabilities> | undefined)?.[CLIENT_CAPABILITIES_META_KEY],
      ),
      requestKey: null,
      signal: ctx.mcpReq.signal,
      progress: progressOf(ctx),
      onTask: cancel.watch,
    };
    try {
      return await callTool(parts, call, turn, { name: params.name, input: params.arguments });
    } finally {
      cancel.stop();
    }
  });
  return server;
}

/** In this revision a client cancels by going away. That we go away is no cancellation. */
function cancelOnAbort(parts: McpParts, caller: Bearer, signal: AbortSignal) {
  let taskId: string | null = null;
  const onAbort = (): void => {
    if (taskId !== null && !parts.deps.shutdown.aborted) void cancelOwnTask(parts, caller, taskId);
  };
  signal.addEventListener("abort", onAbort);
  return {
    watch(id: string): void {
      taskId = id;
      if (signal.aborted) onAbort();
    },
    stop: () => signal.removeEventListener("abort", onAbort),
  };
}

export async function cancelOwnTask(
  { deps: { store, host, log } }: McpParts,
  caller: Bearer,
  taskId: string,
): Promise<void> {
  const { workspaceId, actorId, clientId } = caller;
  await store
    .cancelTask({ taskId, workspaceId, by: { actorId, clientId }, onlyOwn: true, now: host.now() })
    .catch((error: unknown) => log.debug("mcp.cancel_refused", { taskId, reason: String(error) }));
}

function refuseUnknown(name: string): void {
  const known: string[] = Object.values(toolNames).flat();
  if (!known.includes(name))
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `Unknown tool: ${name.slice(0, 100)}. There are: execute, resume.`,
    );
}

/** A bare `elicitation: {}` means forms, as it did before there were modes. */
function readCapabilities(capabilities: ClientCapabilities | undefined): McpCall["canShow"] {
  const elicitation = capabilities?.elicitation as { form?: unknown; url?: unknown } | undefined;
  if (!elicitation) return { form: false, url: false };
  const url = elicitation.url !== undefined;
  return { form: elicitation.form !== undefined || !url, url };
}

function progressOf(ctx: ServerContext): McpCall["progress"] {
  const progressToken = ctx.mcpReq._meta?.["progressToken"];
  if (typeof progressToken !== "string" && typeof progressToken !== "number") return null;
  let progress = 0;
  return (message) => {
    const params = { progressToken, progress: ++progress, message };
    // A client that does not listen any more misses nothing.
    ctx.mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
}
