/**
 * MCP servers as a kind of source. Sessions are opened when a tool is called, kept for a while, and never shared between
 * credentials: what one caller may do is not what another may.
 */
import { AppError } from "@executor/contracts/error";
import type {
  CallIo,
  IndexedTool,
  OpenedIndex,
  ReadIo,
  LoadedKind,
  SourceIndex,
  SourceSpec,
  SourceTools,
} from "@executor/core/ports/source";
import type { Sent, ToolCall } from "@executor/core/tools/tool";
import { signatureOf } from "../schema/schema-to-typescript.ts";
import { connect, explainFailure } from "./connect.ts";
import { Conversation, WaitingCalls } from "./conversation.ts";
import { indexTools, type ToolDetail } from "./index-tools.ts";
import { nextAsk } from "./input-rounds.ts";
import { listTools } from "./list-tools.ts";
import { askChallenge, probeServer } from "./probe-server.ts";
import { withoutEchoes } from "./without-echoes.ts";
import { createSessionPool } from "./session-pool.ts";

const MAX_INSTRUCTIONS = 4_000;

export const mcpKind: LoadedKind = {
  type: "mcp",
  read: readServer,
  probe: probeServer,
  askChallenge,
  open: openTools,
};

async function readServer(source: SourceSpec, io: ReadIo): Promise<SourceIndex> {
  if ((source.definition.command !== undefined || source.definition.transport === "stdio") && !io.mayReachMachine)
    throw new AppError("source.admin_only", "Only an installation admin may add a source that starts a command.");
  const session = await connect(source, io);
  try {
    io.onProgress({ phase: "indexing" });
    const { warnings, ...listed } = await listTools(session.client, io.signal);
    const { tools, server, instructions } = withoutEchoes(
      {
        tools: listed.tools,
        server: session.client.getServerVersion(),
        instructions: session.client.getInstructions()?.slice(0, MAX_INSTRUCTIONS),
      },
      io.auth,
    );
    const meta = {
      transport: session.transport,
      revision: session.client.getNegotiatedProtocolVersion(),
      server,
      ...(instructions !== undefined && { instructions }),
    };
    const index = indexTools(tools);
    return {
      ...index,
      warnings: [...warnings, ...index.warnings],
      metaJson: JSON.stringify(meta),
      title: server?.title ?? server?.name ?? source.definition.name,
      document: { contentType: "application/json", text: JSON.stringify({ ...meta, tools }, null, 2) },
    };
  } catch (error) {
    throw explainFailure(error, source, session.refusal());
  } finally {
    await session.close();
  }
}

function openTools(opened: OpenedIndex): SourceTools {
  const { source } = opened;
  const sourceName = source.definition.name;
  const sessions = createSessionPool((io, signal) =>
    connect(source, { fetch: io.fetch, auth: io.auth, signal, onListChanged: opened.onListChanged }),
  );
  const waiting = new WaitingCalls();
  const detailOf = async (tool: IndexedTool): Promise<ToolDetail> =>
    JSON.parse((await opened.details()).slice(tool.at, tool.at + tool.length)) as ToolDetail;

  return {
    async shape(tool) {
      const { inputSchema, outputSchema } = await detailOf(tool);
      return { inputSchema, outputSchema, signature: signatureOf({ inputSchema, outputSchema }) };
    },
    async prepare(tool, call, io) {
      const detail = await detailOf(tool);
      checkInput(detail.inputSchema, call.input);
      const ask = nextAsk(call.answers, sourceName);
      if (ask) return { kind: "ask", ask };
      return { kind: "ready", send: () => send(detail, tool.effect === "safe", call, io) };
    },
    openCall: (_, callId) => waiting.find(callId),
    isHolding: () => sessions.size() > 0,
    async close() {
      waiting.close();
      await sessions.close();
    },
  };

  async function send(detail: ToolDetail, isSafe: boolean, call: ToolCall, io: CallIo): Promise<Sent> {
    const tool = { detail, sourceName };
    const perform = () =>
      sessions.use(call, io, { isSafe }, async (session) => {
        const conversation = new Conversation(session, tool, call, io);
        const sent = waiting.hold(conversation, await conversation.next());
        return { sent, over: conversation.over };
      });
    const first = await perform();
    // 404 is how a server says that it does not know the session any more.
    if ("kind" in first || first.ok || first.status !== 404) return first;
    await sessions.forget(call, io);
    if (isSafe) return await perform();
    const message = `${first.message} It may have ended the session. The call was not sent a second time, for it may change something: look whether it happened, then call again.`;
    return { ...first, message };
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
