/**
 * MCP servers as a kind of source. Sessions are opened when a tool is called, kept for a while, and never shared between
 * credentials: what one caller may do is not what another may.
 */
import { AppError } from "@executor/contracts/error";
import type {
  CallIo,
  IndexedTool,
  OpenedIndex,
  ProbeFinding,
  ReadIo,
  LoadedKind,
  SourceTools,
} from "@executor/core/ports/source";
import type { Sent, ToolCall } from "@executor/core/tools/tool";
import { signatureOf } from "../schema/schema-to-typescript.ts";
import { callTool } from "./call-tool.ts";
import { connect } from "./connect.ts";
import { createSessionPool } from "./session-pool.ts";
import { indexTools, type ListedTool, type ToolDetail } from "./index-tools.ts";

const MAX_TOOLS = 20_000;
const MAX_INSTRUCTIONS = 4_000;
const PROBE_MS = 8_000;

export const mcpKind: LoadedKind = {
  type: "mcp",

  async read(source, io) {
    if ((source.definition.command !== undefined || source.definition.transport === "stdio") && !io.mayReachMachine)
      throw new AppError("source.admin_only", "Only an installation admin may add a source that starts a command.");
    const session = await connect(source, io);
    try {
      io.onProgress({ phase: "indexing" });
      const { tools } = await session.client.listTools(undefined, { signal: io.signal });
      if (tools.length > MAX_TOOLS)
        throw new AppError(
          "source.unreadable",
          `The server lists ${tools.length} tools, and ${MAX_TOOLS} is the limit.`,
        );
      const server = session.client.getServerVersion();
      const instructions = session.client.getInstructions()?.slice(0, MAX_INSTRUCTIONS);
      const meta = { transport: session.transport, server, ...(instructions !== undefined && { instructions }) };
      return {
        ...indexTools(tools as ListedTool[]),
        metaJson: JSON.stringify(meta),
        title: server?.title ?? server?.name ?? source.definition.name,
        document: { contentType: "application/json", text: JSON.stringify({ ...meta, tools }, null, 2) },
      };
    } catch (error) {
      throw error instanceof AppError
        ? error
        : new AppError("source.unreadable", "The MCP server does not list its tools.", { cause: error });
    } finally {
      await session.close();
    }
  },

  async probe(url, io) {
    for (const address of candidates(url)) {
      const found = await probeAddress(address, io);
      if (found) return found;
    }
    return null;
  },

  open: openTools,
};

function candidates(url: string): string[] {
  const parsed = URL.parse(url);
  if (!parsed) return [];
  return parsed.pathname === "/" ? [url, new URL("/mcp", parsed).href, new URL("/sse", parsed).href] : [url];
}

async function probeAddress(url: string, io: ReadIo): Promise<ProbeFinding | null> {
  const name = URL.parse(url)?.hostname ?? "mcp";
  const definition = { type: "mcp" as const, name, url };
  const source = { sourceId: "probe", workspaceId: "probe", namespace: "probe", definition };
  const found = (over: Partial<ProbeFinding>): ProbeFinding => ({
    type: "mcp",
    confidence: 1,
    name,
    transport: "streamable-http",
    definition,
    auth: { required: false, types: [], detail: "none" },
    toolCount: null,
    warnings: [],
    ...over,
  });
  try {
    const session = await connect(source, {
      ...io,
      signal: AbortSignal.any([io.signal, AbortSignal.timeout(PROBE_MS)]),
    });
    try {
      const { tools } = await session.client.listTools(undefined, { signal: io.signal });
      const server = session.client.getServerVersion();
      const called = server?.title ?? server?.name ?? name;
      return found({
        name: called,
        transport: session.transport,
        definition: { ...definition, name: called },
        toolCount: tools.length,
      });
    } finally {
      await session.close();
    }
  } catch (error) {
    if (!(error instanceof AppError)) return null;
    if (error.code === "egress.refused") throw error;
    const challenge = error.data?.["challenge"];
    if (error.code !== "credential.missing" || typeof challenge !== "string" || !/bearer/i.test(challenge)) return null;
    const isOauth = /resource_metadata/i.test(challenge);
    const detail = isOauth ? "sign-in with a provider" : "a bearer token";
    return found({
      confidence: isOauth ? 0.9 : 0.6,
      auth: { required: true, types: [isOauth ? "oauth2" : "bearer"], detail },
    });
  }
}

function openTools(opened: OpenedIndex): SourceTools {
  const { source } = opened;
  const sessions = createSessionPool((io, signal) =>
    connect(source, { fetch: io.fetch, auth: io.auth, signal, onListChanged: opened.onListChanged }),
  );
  const detailOf = async (tool: IndexedTool): Promise<ToolDetail> =>
    JSON.parse((await opened.details()).slice(tool.at, tool.at + tool.length)) as ToolDetail;

  return {
    async shape(tool) {
      const { inputSchema, outputSchema } = await detailOf(tool);
      return { inputSchema, outputSchema, signature: signatureOf({ inputSchema, outputSchema }) };
    },
    async prepare(tool, call, io) {
      const { name, inputSchema } = await detailOf(tool);
      checkInput(inputSchema, call.input);
      return { kind: "ready", send: () => send(name, call, io) };
    },
    close: () => sessions.close(),
  };

  async function send(name: string, call: ToolCall, io: CallIo): Promise<Sent> {
    const tool = { name, sourceName: source.definition.name };
    const perform = () => sessions.use(call, io, (session) => callTool(session, tool, call, io));
    const first = await perform();
    // 404 is how a server says that it does not know the session any more: the call did not reach the tool.
    if ("kind" in first || first.ok || first.status !== 404) return first;
    await sessions.forget(call, io);
    return await perform();
  }
}

/** What must be there. The rest is the server's to judge: its own validation says it best. */
function checkInput(schema: Record<string, unknown>, input: unknown): void {
  if (input !== undefined && input !== null && (typeof input !== "object" || Array.isArray(input)))
    throw new AppError("call.input_invalid", "The input must be an object with the tool's arguments.");
  const given = (input ?? {}) as Record<string, unknown>;
  const required = Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : [];
  const missing = required.filter((name) => typeof name === "string" && !Object.hasOwn(given, name));
  if (missing.length > 0) throw new AppError("call.input_invalid", `Missing: ${missing.join(", ")}.`);
}
