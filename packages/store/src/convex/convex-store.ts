/**
 * The store for many machines: every verb is a function of a Convex deployment (convex/), called over HTTP with a service token.
 * Holds no data and decides nothing; what it adds is retries where they are safe, our errors, and hints.
 */
import { AppError, ErrorCode } from "@executor/contracts/error";
import type { Hint, Store, StoreVerbs } from "@executor/core/ports/store";
import { hintsOf } from "@executor/core/store/hints";
import { reads, writes } from "@executor/core/store/verbs/index";
import { ConvexHttpClient } from "convex/browser";
import { makeFunctionReference } from "convex/server";
import { ConvexError } from "convex/values";
import { functionPaths } from "./function-paths.ts";
import { isRepeatable } from "./repeatable.ts";
import { fetchConvex, SendFailure } from "./send-failure.ts";
import { watchQueueHead } from "./watch-queue-head.ts";
import { type Packed, pack, unpack } from "@executor/core/store/wire";

export interface ConvexOptions {
  url: string;
  /** Equal to EXECUTOR_SERVICE_TOKEN in the deployment's environment. */
  serviceToken: string;
  /** Whether to hear of queued tasks over a WebSocket. Without it only this process's own hints are heard. */
  subscribe?: boolean;
}

type Request = Packed & { token: string };

/** Waits between sends, each shortened by chance so that those who met once do not meet again. */
const BACK_OFF_MS = [25, 75, 200, 500, 1_000, 2_000];

export async function openConvexStore({ url, serviceToken, subscribe = true }: ConvexOptions): Promise<Store> {
  const client = new ConvexHttpClient(url, {
    logger: false,
    skipConvexDeploymentUrlCheck: true,
    fetch: fetchConvex as typeof fetch,
  });
  const listeners = new Set<(hint: Hint) => void>();
  let stopWatching: (() => Promise<void>) | null = null;
  let closed = false;
  const tell = (hint: Hint): void => {
    for (const listener of listeners) listener(hint);
  };

  async function call(
    verb: keyof StoreVerbs,
    args: unknown,
    send: (request: Request) => Promise<Packed>,
    maySendAgain: boolean,
  ): Promise<unknown> {
    const request = { token: serviceToken, ...pack(args) };
    for (let tries = 0; ; tries++) {
      if (closed) throw new AppError("store.unavailable", "The store is closed.");
      try {
        return unpack(await send(request));
      } catch (error) {
        const waitMs = BACK_OFF_MS[tries];
        const again = error instanceof SendFailure && error.passing && (maySendAgain || error.carriedOut === "no");
        if (!again || waitMs === undefined) throw explain(error, verb, url);
        await Bun.sleep(waitMs * (0.5 + Math.random() / 2));
      }
    }
  }

  const verbs: Record<string, (args: unknown) => Promise<unknown>> = {};
  for (const verb of Object.keys(reads) as (keyof typeof reads)[]) {
    const query = makeFunctionReference<"query", Request, Packed>(functionPaths[verb]);
    verbs[verb] = (args) => call(verb, args, (request) => client.query(query, request), true);
  }
  for (const verb of Object.keys(writes) as (keyof typeof writes)[]) {
    const mutation = makeFunctionReference<"mutation", Request, Packed>(functionPaths[verb]);
    verbs[verb] = async (args) => {
      // Without skipQueue the client would send one mutation at a time.
      const result = await call(
        verb,
        args,
        (request) => client.mutation(mutation, request, { skipQueue: true }),
        isRepeatable(verb, args),
      );
      for (const hint of hintsOf(verb, args, result)) tell(hint);
      return result;
    };
  }

  return {
    ...(verbs as unknown as StoreVerbs),
    kind: "convex",
    watch: (listener) => {
      listeners.add(listener);
      if (subscribe && !closed)
        stopWatching ??= watchQueueHead({ url, serviceToken, onQueued: () => tell({ kind: "queued" }) });
      return () => listeners.delete(listener);
    },
    close: async () => {
      closed = true;
      await stopWatching?.();
      stopWatching = null;
    },
  };
}

/** Refusals of our verbs come out as they went in; a deployment that cannot be reached becomes one of ours. */
function explain(error: unknown, verb: string, url: string): unknown {
  if (error instanceof ConvexError) return toAppError(error.data) ?? error;
  if (!(error instanceof SendFailure)) return error;
  const outcome =
    error.carriedOut === "no" ? "Nothing was changed." : `It is not known whether ${verb} was carried out.`;
  return new AppError(
    "store.unavailable",
    `Convex at ${url} gave no answer to ${verb} (${error.message}). ${outcome}`,
    { cause: error },
  );
}

function toAppError(data: unknown): AppError | null {
  const { code, detail, dataJson } = (data ?? {}) as { code?: unknown; detail?: unknown; dataJson?: unknown };
  const known = ErrorCode.safeParse(code);
  if (!known.success) return null;
  return new AppError(
    known.data,
    String(detail),
    typeof dataJson === "string" ? { data: JSON.parse(dataJson) as Record<string, unknown> } : {},
  );
}
