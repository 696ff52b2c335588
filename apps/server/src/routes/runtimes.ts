/** What can evaluate code here. */
import type { AppDeps } from "../deps.ts";
import type { HandlersOf } from "../http/route-types.ts";

export function runtimeRoutes({ runtimes }: AppDeps): HandlersOf<"listRuntimes"> {
  return {
    listRuntimes: async () => ({ status: 200, body: { items: await runtimes.list() } }),
  };
}
