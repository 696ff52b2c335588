/**
 * Hears over Convex's WebSocket that something was queued, by whichever process. Only a hint: when the socket cannot be opened
 * or the token is refused it stays silent and keeps trying, for workers poll as well.
 */
import { ConvexClient } from "convex/browser";
import { makeFunctionReference } from "convex/server";
import { QUEUE_HEAD } from "./function-paths.ts";

interface Options {
  url: string;
  serviceToken: string;
  onQueued: () => void;
}

/** Returns the way to stop; the process can end after it. */
export function watchQueueHead({ url, serviceToken, onQueued }: Options): () => Promise<void> {
  const client = new ConvexClient(url, {
    logger: false,
    skipConvexDeploymentUrlCheck: true,
    unsavedChangesWarning: false,
  });
  const queueHead = makeFunctionReference<"query", { token: string }, string | null>(QUEUE_HEAD);
  client.onUpdate(queueHead, { token: serviceToken }, (head) => head !== null && onQueued(), ignore);
  return () => client.close();
}

/** A refused token shows in every call that is made; said here too it would only repeat itself. */
function ignore(): void {}
