/**
 * Performs one call the gate let through. Journal first, send second: if we die in between, the next run finds "sent"
 * and asks a person instead of charging the card twice. The price is one more write per unsafe call.
 */
import { AppError } from "@executor/contracts/error";
import type { Ask, OpenCall, Sent, Tool, ToolCall, ToolOutcome } from "../tools/tool.ts";
import type { Journal, JournalCall } from "./journal.ts";

/**
 * An ask came before the sending (`unsent`); or it was sent, and the other side wants something from a person before it does
 * anything (`put-off`), or in the middle of what it does (`open`).
 */
export type Performed =
  | { kind: "outcome"; outcome: ToolOutcome }
  | { kind: "ask"; ask: Ask; at: "unsent" | "put-off" | "open" };
type PerformDeps = { journal: Journal; maxResultBytes: number };

export async function performCall(
  deps: PerformDeps,
  call: JournalCall,
  tool: Tool,
  request: ToolCall,
  approvalId: string | null,
): Promise<Performed> {
  const prepared = await tool.prepare(request).catch((error: unknown) => failed(error));
  if ("ok" in prepared) return { kind: "outcome", outcome: prepared };
  if (prepared.kind === "ask") return { kind: "ask", ask: prepared.ask, at: "unsent" };

  deps.journal.sent(call, approvalId);
  // The write is fenced: a run that lost its lease, or whose task was cancelled, stops here and sends nothing.
  if (!isRepeatable(tool)) await deps.journal.flush();
  return performed(await prepared.send().catch((error: unknown) => failed(error)), tool, deps);
}

/** The answer may be what makes it happen, so it is fenced like a sending. Null: the call ended without it. */
export async function goOnWithCall(
  deps: PerformDeps,
  call: JournalCall,
  tool: Tool,
  open: OpenCall,
  request: ToolCall,
): Promise<Performed | null> {
  deps.journal.answered(call);
  await deps.journal.flush();
  const sent = await open.goOn(request).catch((error: unknown) => failed(error));
  return sent && performed(sent, tool, deps);
}

function performed(sent: Sent, tool: Tool, { maxResultBytes }: PerformDeps): Performed {
  if ("kind" in sent) return { kind: "ask", ask: sent.ask, at: sent.isOpen ? "open" : "put-off" };
  return { kind: "outcome", outcome: bounded(sent, maxResultBytes, tool.path) };
}

/** May be sent again without harm when nobody knows whether it happened. */
export const isRepeatable = (tool: Pick<Tool, "effect" | "idempotent">): boolean =>
  tool.effect === "safe" || tool.idempotent;

function failed(error: unknown): ToolOutcome {
  if (error instanceof AppError) return { ok: false, code: error.code, message: error.detail };
  // What a tool throws may hold anything; sources turn their own failures into outcomes that are safe to show.
  return { ok: false, code: "call.failed", message: "The tool failed unexpectedly." };
}

function bounded(outcome: ToolOutcome, maxBytes: number, toolPath: string): ToolOutcome {
  const length = outcome.ok ? outcome.json.length : (outcome.bodyJson?.length ?? 0);
  if (length <= maxBytes) return outcome;
  if (!outcome.ok)
    return {
      ok: false,
      code: outcome.code,
      message: outcome.message,
      ...(outcome.status !== undefined && { status: outcome.status }),
    };
  return {
    ok: false,
    code: "call.result_too_large",
    message: `The result of ${toolPath} has ${length} characters, and ${maxBytes} is the limit. Ask for less: a filter, a page, fewer fields.`,
  };
}
