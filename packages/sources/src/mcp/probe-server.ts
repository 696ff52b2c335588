/** Is there an MCP server behind a URL, and does it want a sign-in? */
import { AppError } from "@executor/contracts/error";
import type { ProbeFinding, ReadIo, SourceSpec } from "@executor/core/ports/source";
import { readAuthChallenge } from "../oauth/auth-challenge.ts";
import { namesSignIn } from "../oauth/discover-authorization.ts";
import { connect, explainFailure } from "./connect.ts";
import { listTools } from "./list-tools.ts";

const PROBE_MS = 8_000;

export async function probeServer(url: string, io: ReadIo): Promise<ProbeFinding | null> {
  for (const address of candidates(url)) {
    const found = await probeAddress(address, io);
    if (found) return found;
  }
  return null;
}

/** The challenge with which a server answers someone it does not know: where to sign in, and for what. Null when it has none. */
export async function askChallenge(source: SourceSpec, io: ReadIo): Promise<string | null> {
  const looked = await lookInto(source, { ...io, auth: { parts: [], secrets: [] } }).catch((error: unknown) => error);
  const challenge = looked instanceof AppError ? looked.data?.["challenge"] : null;
  return typeof challenge === "string" ? challenge : null;
}

function candidates(url: string): string[] {
  const parsed = URL.parse(url);
  if (!parsed) return [];
  return parsed.pathname === "/" ? [url, new URL("/mcp", parsed).href, new URL("/sse", parsed).href] : [url];
}

async function probeAddress(url: string, io: ReadIo): Promise<ProbeFinding | null> {
  const name = URL.parse(url)?.hostname ?? "mcp";
  const definition = { type: "mcp" as const, name, url };
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
    const source = { sourceId: "probe", workspaceId: "probe", namespace: "probe", definition };
    const { called = name, transport, toolCount, warnings } = await lookInto(source, io);
    return found({ name: called, transport, definition: { ...definition, name: called }, toolCount, warnings });
  } catch (error) {
    if (!(error instanceof AppError)) return null;
    if (error.code === "egress.refused") throw error;
    if (error.code !== "credential.missing") return null;
    const challenge = error.data?.["challenge"];
    return await findAuth(url, typeof challenge === "string" ? challenge : "", io, found);
  }
}

async function lookInto(source: SourceSpec, given: ReadIo) {
  const io = { ...given, signal: AbortSignal.any([given.signal, AbortSignal.timeout(PROBE_MS)]) };
  const session = await connect(source, io);
  try {
    const { tools, warnings } = await listTools(session.client, io.signal);
    const server = session.client.getServerVersion();
    return {
      called: server?.title ?? server?.name,
      transport: session.transport,
      toolCount: tools.length,
      warnings,
    };
  } catch (error) {
    throw explainFailure(error, source, session.refusal());
  } finally {
    await session.close();
  }
}

/** The challenge says it, or the resource's own metadata at its well-known place. */
async function findAuth(
  url: string,
  challenge: string,
  io: ReadIo,
  found: (over: Partial<ProbeFinding>) => ProbeFinding,
): Promise<ProbeFinding | null> {
  const isOauth =
    readAuthChallenge(challenge).resourceMetadata !== undefined ||
    (await namesSignIn(io.fetch, url).catch(() => false));
  if (!isOauth && !/\bbearer\b/i.test(challenge)) return null;
  return found({
    confidence: isOauth ? 0.9 : 0.6,
    auth: {
      required: true,
      types: [isOauth ? "oauth2" : "bearer"],
      detail: isOauth ? "sign-in with a provider" : "a bearer token",
    },
  });
}
