/**
 * The one door to this deployment: wraps a verb of core as a public function that only a holder of the service token can call.
 * Never does anything itself. Must stay true: without EXECUTOR_SERVICE_TOKEN in the deployment's environment nobody gets in.
 */
import { AppError } from "@executor/contracts/error";
import type { Tx } from "@executor/core/store/tx";
import { ConvexError, v } from "convex/values";
import { mutation, query } from "./_generated/server.js";
import { serviceToken } from "./env.ts";
import { readingTx, writingTx } from "./tx.ts";
import { type Packed, pack, unpack } from "@executor/core/store/wire";

const packed = { json: v.string(), texts: v.array(v.string()) };
const args = { token: v.string(), ...packed };
const returns = v.object(packed);

export function serviceQuery<A, R>(verb: (tx: Tx, args: A) => Promise<R>) {
  return query({ args, returns, handler: (ctx, request) => serve(verb, readingTx(ctx.db), request) });
}

export function serviceMutation<A, R>(verb: (tx: Tx, args: A) => Promise<R>) {
  return mutation({ args, returns, handler: (ctx, request) => serve(verb, writingTx(ctx.db), request) });
}

async function serve<A, R>(
  verb: (tx: Tx, args: A) => Promise<R>,
  tx: Tx,
  { token, ...request }: Packed & { token: string },
): Promise<Packed> {
  checkToken(token);
  try {
    return pack(await verb(tx, unpack(request) as A));
  } catch (error) {
    throw error instanceof AppError ? toConvexError(error) : error;
  }
}

/** Refuses as a store that is not set up, not as a caller without rights: no user of the product can mend this. */
export function checkToken(token: string): void {
  const expected = serviceToken();
  if (!expected)
    throw toConvexError(
      new AppError(
        "store.unavailable",
        "The Convex deployment has no EXECUTOR_SERVICE_TOKEN, so it lets nobody in. Set it with `bunx convex env set`.",
      ),
    );
  if (!isSame(token, expected))
    throw toConvexError(
      new AppError(
        "store.unavailable",
        "The Convex deployment refused the service token. It must equal the deployment's EXECUTOR_SERVICE_TOKEN.",
      ),
    );
}

/** Looks at every character, however early they differ: the time tells nothing but the length. */
function isSame(given: string, expected: string): boolean {
  let difference = given.length ^ expected.length;
  for (let at = 0; at < expected.length; at++)
    difference |= given.charCodeAt(at % (given.length || 1)) ^ expected.charCodeAt(at);
  return difference === 0;
}

/** `data` goes as text: its keys are free, and Convex refuses some. */
function toConvexError({
  code,
  detail,
  data,
}: AppError): ConvexError<{ code: string; detail: string; dataJson: string | null }> {
  return new ConvexError({ code, detail, dataJson: data === undefined ? null : JSON.stringify(data) });
}
