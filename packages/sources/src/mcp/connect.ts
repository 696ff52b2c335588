/**
 * Opens a session with an MCP server: streamable HTTP in either revision, SSE for old servers, or a process. Everything over HTTP goes
 * through the guard and carries the source's own headers and secrets; the SDK's own sign-in is not used.
 */
import {
  Client,
  ProtocolError,
  ProtocolErrorCode,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { AppError } from "@executor/contracts/error";
import type { AuthParts, GuardedFetch, SourceSpec } from "@executor/core/ports/source";
import { applyAuth } from "../http/apply-auth.ts";
import type { Elicitation, ElicitAnswer } from "./elicitation.ts";
import { processEnvironment } from "./env.ts";
import { StdioTransport } from "./stdio-transport.ts";

export type Elicit = (request: Elicitation) => ElicitAnswer | Promise<ElicitAnswer>;

export interface Session {
  client: Client;
  transport: "streamable-http" | "sse" | "stdio";
  /** What the other side last refused a message with, on the level of HTTP, since the call began. */
  refusal(): Refusal | null;
  /** What it wanted in the middle of the call and does not get from a source: sampling, roots. */
  unanswered(): string | null;
  /** One call at a time: who answers its elicitations. */
  beginCall(call: { elicit: Elicit }): void;
  isClosed: boolean;
  close(): Promise<void>;
}

export interface Refusal {
  status: number;
  challenge: string | null;
}

export interface ConnectIo {
  fetch: GuardedFetch;
  auth: AuthParts;
  signal: AbortSignal;
  onListChanged?: (() => void) | undefined;
}

const CONNECT_MS = 30_000;
/** One stream of notifications may live long; what answers one message does not. */
const MAX_STREAM_BYTES = 200_000_000;
const MAX_ANSWER_BYTES = 64_000_000;

export async function connect(source: SourceSpec, io: ConnectIo): Promise<Session> {
  const { command, transport } = source.definition;
  if (command !== undefined || transport === "stdio") return await openSession(source, io, "stdio");
  if (transport !== undefined) return await openSession(source, io, transport);
  try {
    return await openSession(source, io, "streamable-http");
  } catch (error) {
    // 400, 404 and 405 are how a server says that it knows the older way only.
    const { status } = (error as { refusal?: Refusal | null }).refusal ?? { status: 0 };
    if (![400, 404, 405].includes(status)) throw error;
    return await openSession(source, io, "sse").catch(() => Promise.reject(error as Error));
  }
}

async function openSession(source: SourceSpec, io: ConnectIo, kind: Session["transport"]): Promise<Session> {
  let refusal: Refusal | null = null;
  let unanswered: string | null = null;
  let elicit: Elicit = () => ({ action: "cancel" });
  const guarded = guardedFor(source, io, (seen) => (refusal = seen));
  const client = new Client(
    { name: "executor", version: "0.1.0" },
    {
      capabilities: { elicitation: { form: {}, url: {} } },
      versionNegotiation: { mode: "auto" },
      ...(io.onListChanged && {
        listChanged: { tools: { autoRefresh: false, onChanged: () => io.onListChanged?.() } },
      }),
    },
  );
  const session: Session = {
    client,
    transport: kind,
    refusal: () => refusal,
    unanswered: () => unanswered,
    beginCall(call) {
      refusal = null;
      unanswered = null;
      elicit = call.elicit;
    },
    isClosed: false,
    close: async () => {
      session.isClosed = true;
      await client.close().catch(() => undefined);
    },
  };
  client.setRequestHandler("elicitation/create", async ({ params }) => (await elicit(params)) as never);
  client.fallbackRequestHandler = async ({ method }) => {
    unanswered = method.slice(0, 100);
    throw new ProtocolError(
      ProtocolErrorCode.MethodNotFound,
      `${unanswered} is not offered: a source gets no model, no files and no roots of its caller.`,
    );
  };
  client.onclose = () => (session.isClosed = true);
  try {
    await client.connect(makeTransport(source, kind, guarded, io.auth), { signal: io.signal, timeout: CONNECT_MS });
    return session;
  } catch (error) {
    await session.close();
    throw Object.assign(explainFailure(error, source, refusal), { refusal });
  }
}

function makeTransport(
  source: SourceSpec,
  kind: Session["transport"],
  fetch: GuardedFetch,
  auth: AuthParts,
): Transport {
  const { url, command, args = [], env = {}, cwd } = source.definition;
  if (kind === "stdio") {
    const secrets = auth.parts.flatMap((part) => (part.in === "env" ? [[part.name, part.value] as const] : []));
    return new StdioTransport(
      { command: command ?? "", args, env: { ...env, ...Object.fromEntries(secrets) }, cwd },
      processEnvironment(),
    );
  }
  const options = { fetch: fetch as typeof globalThis.fetch };
  return kind === "sse"
    ? new SSEClientTransport(new URL(url ?? ""), options)
    : new StreamableHTTPClientTransport(new URL(url ?? ""), options);
}

function guardedFor(source: SourceSpec, io: ConnectIo, onRefusal: (refusal: Refusal) => void): GuardedFetch {
  const { headers: own = {}, url: base } = source.definition;
  const origin = URL.parse(base ?? "")?.origin;
  return async (url, init = {}) => {
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(own)) if (!headers.has(name)) headers.set(name, value);
    // A server may name another address to post to; its secrets stay at home.
    const auth = new URL(url).origin === origin ? io.auth : { parts: [], secrets: [] };
    const request = applyAuth({ url: String(url), headers: [...headers] }, auth);
    const response = await io.fetch(request.url, {
      ...init,
      headers: request.headers,
      sensitive: request.sensitive,
      redirect: "follow",
      timeoutMs: 0,
      maxBytes: init.method === "POST" ? MAX_ANSWER_BYTES : MAX_STREAM_BYTES,
    });
    // The stream of notifications (GET) is optional: that it is refused says nothing about a call.
    if (response.status >= 400 && init.method === "POST")
      onRefusal({ status: response.status, challenge: response.headers.get("www-authenticate") });
    return response;
  };
}

/** Why a server cannot be read, for people. A refusal that a sign-in may cure says so, with the server's challenge. */
export function explainFailure(error: unknown, { definition }: SourceSpec, refusal: Refusal | null): AppError {
  if (error instanceof AppError) return error;
  const cause = (error as { cause?: unknown } | null)?.cause;
  if (cause instanceof AppError) return cause;
  const where = definition.command ?? URL.parse(definition.url ?? "")?.host ?? "the server";
  if (refusal?.status === 401 || refusal?.status === 403)
    return new AppError(
      "credential.missing",
      `${where} wants a credential (${refusal.status}). Give the source \`auth\`, and a credential.`,
      {
        data: { status: refusal.status, ...(refusal.challenge !== null && { challenge: refusal.challenge }) },
      },
    );
  const status = refusal ? ` It answered ${refusal.status}.` : "";
  return new AppError(
    "source.unreadable",
    `${where} does not answer as an MCP server.${status} Check the address and the transport.`,
    { cause: error },
  );
}
