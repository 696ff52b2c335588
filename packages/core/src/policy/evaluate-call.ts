/**
 * The verdict on one call. Most calls stand for themselves; one that carries several operations (a GraphQL document) is judged
 * by each of them, and the strictest verdict counts. What cannot be taken apart is denied.
 */
import { AppError } from "@executor/contracts/error";
import type { PolicyDecision } from "@executor/contracts/policy";
import type { PolicyRow } from "../store/tables.ts";
import type { Tool } from "../tools/tool.ts";
import type { PolicyVerdict } from "./evaluate-policy.ts";
import { evaluateTool } from "./evaluate-tool.ts";

const strictness: Record<PolicyDecision, number> = { deny: 2, require_approval: 1, allow: 0 };

export function evaluateCall(
  policies: readonly PolicyRow[],
  tool: Tool,
  caller: { actorId: string; clientId: string },
  input: unknown,
): PolicyVerdict {
  if (!tool.gatePaths) return evaluateTool(policies, tool, caller, input);
  let parts;
  try {
    parts = tool.gatePaths(input);
  } catch (error) {
    const why = error instanceof AppError ? error.detail : "it cannot be taken apart";
    return { decision: "deny", policyId: null, why, matched: [], unreadable: true };
  }
  if (parts.length === 0) return evaluateTool(policies, tool, caller, input);
  // A rule on the tool itself counts too; its own default does not, for the parts have theirs.
  const itself = evaluateTool(policies, { ...pick(tool), approval: "auto" }, caller, input);
  const verdicts = parts.map((part) => evaluateTool(policies, { ...part, neverAsks: false }, caller, input));
  return verdicts.reduce(
    (strictest, verdict) => (strictness[verdict.decision] > strictness[strictest.decision] ? verdict : strictest),
    itself,
  );
}

const pick = ({ path, neverAsks }: Tool): Pick<Tool, "path" | "neverAsks"> => ({ path, neverAsks });
