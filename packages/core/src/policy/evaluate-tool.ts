/** The verdict on one tool: the workspace's rules over the tool's own default. */
import type { Tool } from "../tools/tool.ts";
import type { PolicyRow } from "../store/tables.ts";
import { evaluatePolicy, type PolicyVerdict } from "./evaluate-policy.ts";

export function evaluateTool(
  policies: readonly PolicyRow[],
  tool: Pick<Tool, "path" | "approval" | "neverAsks" | "alwaysAsks">,
  caller: { actorId: string; clientId: string },
  input: unknown,
): PolicyVerdict {
  const asks = tool.approval === "required";
  const fallback = {
    decision: asks ? "require_approval" : "allow",
    why: asks ? "the tool changes something and no policy allows it" : "the tool's default",
  } as const;
  const verdict = evaluatePolicy(
    policies,
    { toolPath: tool.path, actorId: caller.actorId, clientId: caller.clientId, input },
    fallback,
  );
  if (tool.alwaysAsks && verdict.decision === "allow")
    return { ...verdict, decision: "require_approval", why: "this always asks a person" };
  return tool.neverAsks && verdict.decision === "require_approval"
    ? { ...verdict, decision: "allow", why: "discovery never asks" }
    : verdict;
}
