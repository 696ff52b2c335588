/**
 * One call of a tool on an MCP server: its answer as a value, its errors as errors, and what it wants from a person as an ask. A
 * server that asks in the middle is told that the call is cancelled; the call is sent again when the answer is there.
 */
import { createHash } from "node:crypto";
import { AppError } from "@executor/contracts/error";
import type { CallIo } from "@executor/core/ports/source";
import type { Ask, Sent, ToolCall, ToolOutcome } from "@executor/core/tools/tool";
import { createRedactor, type Redactor } from "../http/redact.ts";
import type { Elicit, Session } from "./connect.ts";

const CALL_MS = 300_000;
const SECRET_FIELD = /passw|secret|token|api[-_ ]?key|credential/i;

export async function callTool(
  session: Session,
  tool: { name: string; sourceName: string },
  call: ToolCall,
  io: CallIo,
): Promise<Sent> {
  const redact = createRedactor(io.auth.secrets);
  let asked: Ask | null = null;
  session.elicit = answerFrom(call, tool.sourceName, (ask) => (asked ??= ask));
  const input = typeof call.input === "object" && call.input !== null ? (call.input as Record<string, unknown>) : {};
  try {
    const result = await session.client.callTool(
      { name: tool.name, arguments: input },
      { signal: call.signal, timeout: CALL_MS, resetTimeoutOnProgress: true, onprogress: () => undefined },
    );
    if (asked) return { kind: "ask", ask: asked };
    return bounded(readResult(result, redact), io.maxResultBytes);
  } catch (error) {
    if (asked) return { kind: "ask", ask: asked };
    return failure(error, session, redact);
  }
}

/** Answers in the order in which they were asked; what was never asked before is asked now. */
function answerFrom(call: ToolCall, sourceName: string, onAsk: (ask: Ask) => void): Elicit {
  const given = call.answers.filter(({ kind }) => kind === "elicitation");
  return (request) => {
    const digest = createHash("sha256")
      .update(JSON.stringify([request.message, request.mode, request.requestedSchema, request.url]))
      .digest("hex");
    const known = given.find(
      ({ stateJson }) => stateJson !== null && (JSON.parse(stateJson) as { digest?: string }).digest === digest,
    );
    if (known) {
      const content = known.answer;
      return request.mode === "url" || typeof content !== "object" || content === null
        ? { action: "accept" }
        : { action: "accept", content: content as Record<string, unknown> };
    }
    onAsk(toAsk(request, sourceName, digest));
    return { action: "cancel" };
  };
}

function toAsk(request: Parameters<Elicit>[0], sourceName: string, digest: string): Ask {
  const stateJson = JSON.stringify({ digest });
  const title = `${sourceName} asks: ${request.message}`.slice(0, 200);
  if (request.mode === "url") {
    const url = URL.parse(request.url ?? "");
    if (!url || !/^https?:$/.test(url.protocol))
      throw new AppError(
        "call.upstream_error",
        `${sourceName} asked to open an address that is no http or https URL; it was refused.`,
      );
    return {
      kind: "elicitation",
      title,
      detail: `${request.message}\n\nOpen this page of ${url.host}, then say that it is done: ${url.href}`,
      answerSchema: { type: "object", properties: { done: { type: "boolean", const: true } }, required: ["done"] },
      url: url.href,
      stateJson,
    };
  }
  const schema = (request.requestedSchema ?? { type: "object" }) as Record<string, unknown>;
  const isSecret = SECRET_FIELD.test(JSON.stringify(schema)) || SECRET_FIELD.test(request.message);
  const warning = isSecret
    ? "\n\nIt seems to ask for a secret. Never give one here: secrets belong to the source's credentials."
    : "";
  return {
    kind: "elicitation",
    title,
    detail: `${request.message}${warning}`,
    answerSchema: schema,
    url: null,
    stateJson,
  };
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
    const message = redact(said ?? "The tool failed.")
      .replace(/[\u0000-\u001f\u007f]+/g, " ")
      .slice(0, 500);
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
  if (error instanceof AppError) return { ok: false, code: error.code, message: error.detail };
  const status = session.refusal()?.status;
  const { code, message } = error as { code?: unknown; message?: string };
  const said = redact(String(message ?? ""))
    .replace(/[\u0000-\u001f\u007f]+/g, " ")
    .slice(0, 500);
  if (status !== undefined)
    return { ok: false, code: "call.upstream_error", message: `The MCP server answered ${status}. ${said}`, status };
  if (typeof code === "number")
    return { ok: false, code: "call.upstream_error", message: `The MCP server refused the call: ${said}` };
  return {
    ok: false,
    code: "egress.failed",
    message: `The MCP server did not answer: ${said} The call may have happened all the same.`,
  };
}
