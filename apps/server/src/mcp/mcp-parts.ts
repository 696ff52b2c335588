/** What the files of this room share: the server's parts, and who calls through which kind of client. */
import type { AppDeps } from "../deps.ts";
import type { HintHub } from "../hint-hub.ts";
import type { Bearer } from "../http/authenticate.ts";

export interface McpParts {
  deps: AppDeps;
  hub: HintHub;
  /** Where clients reach the endpoint; no slash at the end. */
  base: string;
  /** Where people reach the console: elsewhere, when this is a gateway. */
  consoleBase: string;
}

/** One `tools/call`, whatever revision it came by. */
export interface McpCall {
  caller: Bearer;
  /** What the client can show a person. */
  canShow: { form: boolean; url: boolean };
  /** Stands for this very request, where it can be told apart from others; null: it cannot. */
  requestKey: string | null;
  /** The client gave up, went away, or the server stops. */
  signal: AbortSignal;
  /** Null when the client did not ask to hear how it goes. */
  progress: ((message: string) => void) | null;
  /** The task this request is about is known now. */
  onTask(taskId: string): void;
}
