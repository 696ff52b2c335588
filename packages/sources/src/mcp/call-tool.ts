/**
 * The request of one call, and its answer as a value; errors as errors. What a server wants from a person on the way is the
 * business of conversation.ts and input-rounds.ts.
 */
import { type Client, SdkError, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";
import { AppError } from "@executor/contracts/error";
import type { CallIo } from "@executor/core/ports/source";
import type { Sent, ToolCall, ToolOutcome } from "@executor/core/tools/tool";
import { createRedactor, type Redactor } from "../http/redact.ts";
import type { Session } from "./connect.ts";
import type { ToolDetail } from "./index-tools.ts";
import { answerRound, readInputRequired } from "./input-rounds.ts";

/** Longer than any run and any wait for a person in the middle of a call: those have clocks of their own. */
const SILENCE_MS = 15 * 60_000;
const CALL_MS = 3_600_000;

export interface CalledTool {
  detail: ToolDetail;
  sourceName: string;
}

export async function callTool(
  session: Session,
  tool: CalledTool,
  call: ToolCall,
  { auth, maxResultBytes, signal }: Pick<CallIo, "auth" | "maxResultBytes"> & { signal: AbortSignal },
): Promise<Sent> {
  const redact = createRedactor(auth.secrets);
  try {
    const result = await request(session.client, tool, call, signal);
    const round = readInputRequired(result, tool.sourceName);
    if (round) return "ask" in round ? { kind: "ask", ask: round.ask } : refusedCall(round.refused);
    return bounded(readResult(result, redact), maxResultBytes);
  } catch (error) {
    return failure(error, session, redact);
  }
}

export const refusedCall = (message: string): ToolOutcome => ({ ok: false, code: "call.upstream_error", message });

function request(client: Client, { detail }: CalledTool, call: ToolCall, signal: AbortSignal): Promise<CallResult> {
  const { name, inputSchema } = detail;
  const input = typeof call.input === "object" && call.input !== null ? (call.input as Record<string, unknown>) : {};
  const params = { name, arguments: input, ...answerRound(call.answers) };
  return client.callTool(params as Parameters<Client["callTool"]>[0], {
    signal,
    timeout: SILENCE_MS,
    maxTotalTimeout: CALL_MS,
    resetTimeoutOnProgress: true,
    onprogress: () => undefined,
    // With it the SDK neither sends a call a second time nor compiles a schema that came from outside.
    toolDefinition: { name, inputSchema: { ...inputSchema, type: "object" } },
    allowInputRequired: true,
  });
}

interface CallResult {
  content?: unknown;
  structuredContent?: unknown;
  isError?: boolean | undefined;
}

function readResult(result: CallResult, redact: Redactor): ToolOutcome {
  const content = Array.isArray(result.content) ? (result.content as { type?: string; text?: unknown }[]) : [];
  const [only, ...more] = content;
  const text = only?.type === "text" && more.length === 0 && typeof only.text === "string" ? only.text : null;
  if (result.isError) {
    const said = content.find((block) => block.type === "text" && typeof block.text === "string")?.text as
      | string
      | undefined;
    const message = oneLine(redact(said ?? "The tool failed."));
    return { ok: false, code: "call.upstream_error", message, bodyJson: redact(JSON.stringify(text ?? { content })) };
  }
  const value: unknown = result.structuredContent ?? text ?? { content };
  return { ok: true, json: redact(JSON.stringify(value)) };
}

function bounded(outcome: ToolOutcome, maxBytes: number): ToolOutcome {
  if (!outcome.ok || outcome.json.length <= maxBytes) return outcome;
  const message = `The answer has ${outcome.json.length} characters, and ${maxBytes} is the limit. Ask for less.`;
  return { ok: false, code: "call.result_too_large", message };
}

function failure(error: unknown, session: Session, redact: Redactor): ToolOutcome {
  const cause = (error as { cause?: unknown } | null)?.cause;
  for (const each of [error, cause])
    if (each instanceof AppError) return { ok: false, code: each.code, message: each.detail };
  const { code, message } = error as { code?: unknown; message?: string };
  const said = oneLine(redact(String(message ?? "")));
  const isSilent = SdkError.isInstance(error) && error.code === SdkErrorCode.RequestTimeout;
  const refusal = isSilent || typeof code === "number" ? null : session.refusal();
  const status = SdkHttpError.isInstance(error) && error.status >= 400 ? error.status : refusal?.status;
  if (status !== undefined) {
    const challenge = refusal?.status === status ? refusal.challenge : null;
    return {
      ok: false,
      code: "call.upstream_error",
      message: `The MCP server answered ${status}. ${said}`,
      status,
      ...(challenge !== null && { challenge }),
    };
  }
  const wanted = session.unanswered();
  if (typeof code === "number" || wanted !== null) {
    const because = wanted === null ? "" : ` It wanted ${wanted}, which sources do not get here.`;
    return { ok: false, code: "call.upstream_error", message: `The MCP server refused the call: ${said}${because}` };
  }
  return {
    ok: false,
    code: isSilent ? "egress.timeout" : "egress.failed",
    message: `The MCP server did not answer: ${said} The call may have happened all the same.`,
  };
}

const oneLine = (text: string): string => text.replace(/[\u0000-\u001f\u007f]+/g, " ").slice(0, 500);
