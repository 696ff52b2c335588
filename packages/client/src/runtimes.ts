/** What can evaluate code here: the values of a task's `runtimeId`. */
import type { RuntimeTarget } from "@executor/contracts/tool";
import type { Connection } from "./connection.ts";
import type { RequestOptions } from "./http.ts";
import type { Page } from "./pages.ts";

export function createRuntimes({ http }: Connection) {
  return {
    list: ({ signal }: RequestOptions = {}): Promise<Page<RuntimeTarget>> => http.call("listRuntimes", { signal }),
  };
}
