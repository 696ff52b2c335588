/** The eyes of a caller on the tools of its workspace, as policy leaves them at this moment. */
import { openToolCatalog } from "@executor/core/tools/builtin-tools";
import type { ToolView } from "@executor/core/tools/describe-tools";
import type { AppDeps } from "../deps.ts";
import type { Bearer } from "../http/authenticate.ts";

export async function openToolView(
  { store, tools }: Pick<AppDeps, "store" | "tools">,
  caller: Bearer,
): Promise<ToolView> {
  const { workspaceId, actorId } = caller;
  const policies = await store.listPolicies({ workspaceId });
  const catalog = await openToolCatalog([tools], { workspaceId, actorId }, () => policies);
  return { catalog, policies, caller };
}
