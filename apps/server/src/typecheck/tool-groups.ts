/**
 * The tools of a segment by every group they lie in: `github` and `github.issues` for `github.issues.list`. Made once for a segment and
 * kept as long as it: a program may name thousands of groups.
 */
import type { ToolCatalog, ToolSegment } from "@executor/core/ports/tools";
import type { Tool } from "@executor/core/tools/tool";

const known = new WeakMap<ToolSegment, Map<string, Tool[]>>();

export function toolsOfGroup({ segments }: ToolCatalog, path: string): Tool[] {
  const namespace = path.split(".", 1)[0];
  return segments
    .filter((segment) => segment.namespace === namespace)
    .flatMap((segment) => groupsOf(segment).get(path) ?? []);
}

function groupsOf(segment: ToolSegment): Map<string, Tool[]> {
  const made = known.get(segment);
  if (made) return made;
  const groups = new Map<string, Tool[]>();
  for (const tool of segment.tools) {
    for (let end = tool.path.indexOf("."); end > 0; end = tool.path.indexOf(".", end + 1)) {
      const group = tool.path.slice(0, end);
      const members = groups.get(group);
      if (members) members.push(tool);
      else groups.set(group, [tool]);
    }
  }
  known.set(segment, groups);
  return groups;
}
