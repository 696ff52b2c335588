/** Tools as the caller may use them: what policy denies is absent here, as it is in discovery. */
import { AppError } from "@executor/contracts/error";
import { openToolCatalog } from "@executor/core/tools/builtin-tools";
import { detail, searchTools, summarise, visibleTools, type VisibleTool } from "@executor/core/tools/describe-tools";
import type { AppDeps } from "../deps.ts";
import type { Bearer } from "../http/authenticate.ts";
import type { HandlersOf } from "../http/route-types.ts";

const DEFAULT_RESULTS = 10;

export function toolRoutes({ store, tools }: AppDeps): HandlersOf<"listTools" | "searchTools" | "readTool"> {
  return {
    async listTools({ caller, query }) {
      const visible = await toolsOf(caller);
      const inNamespace =
        query.namespace === undefined
          ? visible
          : visible.filter(({ tool }) => tool.path.split(".", 1)[0] === query.namespace);
      return { status: 200, body: { items: inNamespace.map(summarise) } };
    },

    async searchTools({ caller, query }) {
      const found = searchTools(await toolsOf(caller), query.query, query.limit ?? DEFAULT_RESULTS);
      return { status: 200, body: { items: found.map(summarise) } };
    },

    async readTool({ caller, param }) {
      const path = param("path");
      const found = (await toolsOf(caller)).find(({ tool }) => tool.path === path);
      if (!found)
        throw new AppError("tool.not_found", `There is no tool ${path.slice(0, 200)} that this caller may use.`);
      return { status: 200, body: detail(found) };
    },
  };

  async function toolsOf(caller: Bearer): Promise<VisibleTool[]> {
    const { workspaceId, actorId } = caller;
    const policies = await store.listPolicies({ workspaceId });
    const catalog = await openToolCatalog([tools], { workspaceId, actorId }, () => policies);
    return visibleTools(catalog, policies, caller);
  }
}
