/** What Hono carries along with a request. */
import type { Bearer } from "./authenticate.ts";

export interface AppTypes {
  /** Bun's server, when there is one: a test calls the app without. */
  Bindings: { requestIP?(request: Request): { address: string } | null };
  Variables: {
    requestId: string;
    /** Pattern of the route, for the log. */
    route: string | undefined;
    caller: Bearer | undefined;
  };
}
