/** Tools as one caller may see them: denied ones are absent, and whether a call will ask is resolved by policy. */
import type { ToolApproval, ToolDetail, ToolSummary } from "@executor/contracts/tool";
import { evaluateTool } from "../policy/evaluate-tool.ts";
import type { ToolCatalog } from "../ports/tools.ts";
import type { PolicyRow } from "../store/tables.ts";
import type { Tool } from "./tool.ts";

export interface VisibleTool {
  tool: Tool;
  approval: ToolApproval;
}

export function visibleTools(
  catalog: ToolCatalog,
  policies: readonly PolicyRow[],
  caller: { actorId: string; clientId: string },
): VisibleTool[] {
  const visible: VisibleTool[] = [];
  for (const tool of catalog.list()) {
    const { decision } = evaluateTool(policies, tool, caller, {});
    if (decision !== "deny") visible.push({ tool, approval: decision === "allow" ? "auto" : "required" });
  }
  return visible;
}

export function summarise({ tool, approval }: VisibleTool): ToolSummary {
  return { path: tool.path, source: tool.source, approval, description: tool.description, signature: tool.signature };
}

export function detail(visible: VisibleTool): ToolDetail {
  const { tool } = visible;
  return { ...summarise(visible), effect: tool.effect, inputSchema: tool.inputSchema, outputSchema: tool.outputSchema };
}

/** By intent: every word of the query counts where it is found, most in the last part of the path. Best first. */
export function searchTools(visible: readonly VisibleTool[], query: string, limit: number): VisibleTool[] {
  const words =
    query
      .slice(0, 500)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  const scored = visible
    .map((entry) => ({ entry, score: scoreTool(entry.tool, words) }))
    .filter(({ score }) => score > 0);
  return scored
    .toSorted((a, b) => b.score - a.score || (a.entry.tool.path < b.entry.tool.path ? -1 : 1))
    .slice(0, limit)
    .map(({ entry }) => entry);
}

function scoreTool(tool: Tool, words: readonly string[]): number {
  const path = tool.path.toLowerCase();
  const name = path.slice(path.lastIndexOf(".") + 1);
  const description = tool.description.toLowerCase();
  let score = 0;
  for (const word of words) {
    if (name === word) score += 12;
    else if (name.includes(word)) score += 8;
    else if (path.includes(word)) score += 5;
    if (description.includes(word)) score += 2;
  }
  return score;
}
