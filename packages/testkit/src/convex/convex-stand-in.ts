/**
 * A loopback server that speaks Convex's HTTP API and runs the real functions of convex/ through convex-test, in memory.
 * Kept as in Convex: transactions one after the other, limits of a transaction, of arguments and results, error bodies.
 * Not kept: conflicts between transactions (OCC), the 1 MiB of a document, the WebSocket. Only a deployment shows those.
 */
import schema from "@executor/convex/schema";
import { makeFunctionReference } from "convex/server";
import { ConvexError, convexToJson, getConvexSize, type JSONValue, jsonToConvex, type Value } from "convex/values";
import { convexTest } from "convex-test";
import { convexModules } from "./convex-modules.ts";

export interface ConvexStandIn {
  url: string;
  /** Answers the next requests with this instead, to try what a client makes of it. */
  failNext(response: () => Response, times?: number): void;
  /** How many requests came. */
  requestCount(): number;
  stop(): Promise<void>;
}

export interface StandInOptions {
  /** Null leaves the deployment without one: it must then refuse everybody. One process holds one token: the last one set. */
  serviceToken: string | null;
  /** 0 takes a free one. */
  port?: number;
}

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_ARRAY = 8_192;
/** How Convex answers when a function failed. */
const FUNCTION_FAILED = 560;

export async function startConvexStandIn({ serviceToken, port = 0 }: StandInOptions): Promise<ConvexStandIn> {
  if (serviceToken === null) delete process.env.EXECUTOR_SERVICE_TOKEN;
  else process.env.EXECUTOR_SERVICE_TOKEN = serviceToken;
  const backend = convexTest({ schema, modules: convexModules, transactionLimits: true });
  const failures: (() => Response)[] = [];
  let requests = 0;

  async function answer(request: Request): Promise<Response> {
    requests++;
    const failure = failures.shift();
    if (failure) return failure();
    const kind = new URL(request.url).pathname;
    if (kind === "/api/query_ts") return Response.json({ ts: "AAAAAAAAAAA=" });
    const isQuery = kind === "/api/query" || kind === "/api/query_at_ts";
    if (request.method !== "POST" || (!isQuery && kind !== "/api/mutation"))
      return refuse(404, "NotFound", `no ${kind} here`);
    const { path, args } = (await request.json()) as { path: string; args: [JSONValue] };
    const value = jsonToConvex(args[0]) as Record<string, Value>;
    const tooMuch = findExcess(value);
    if (tooMuch) return refuse(400, "InvalidArgument", tooMuch);
    return run(() =>
      isQuery
        ? backend.query(makeFunctionReference<"query">(path), value)
        : backend.mutation(makeFunctionReference<"mutation">(path), value),
    );
  }

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    maxRequestBodySize: 64 * 1024 * 1024,
    idleTimeout: 60,
    fetch: answer,
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    failNext: (response, times = 1) => {
      for (let count = 0; count < times; count++) failures.push(response);
    },
    requestCount: () => requests,
    stop: () => server.stop(true),
  };
}

async function run(call: () => Promise<Value>): Promise<Response> {
  try {
    const value = (await call()) ?? null;
    const tooMuch = findExcess(value);
    if (tooMuch) throw new Error(`the result: ${tooMuch}`);
    return Response.json({ status: "success", value: convexToJson(value), logLines: [] });
  } catch (error) {
    const errorMessage = error instanceof Error ? error.message : String(error);
    const errorData = error instanceof ConvexError ? { errorData: convexToJson(error.data as Value) } : {};
    return Response.json({ status: "error", errorMessage, ...errorData, logLines: [] }, { status: FUNCTION_FAILED });
  }
}

/** What Convex limits and convex-test does not look at. */
function findExcess(value: Value): string | null {
  const bytes = getConvexSize(value);
  if (bytes > MAX_BYTES) return `${bytes} bytes, of at most ${MAX_BYTES}`;
  const longest = longestArray(value);
  return longest > MAX_ARRAY ? `an array of ${longest}, of at most ${MAX_ARRAY}` : null;
}

function longestArray(value: Value | undefined): number {
  if (Array.isArray(value)) return Math.max(value.length, ...value.slice(0, MAX_ARRAY).map(longestArray), 0);
  if (typeof value !== "object" || value === null || value instanceof ArrayBuffer) return 0;
  return Math.max(0, ...Object.values(value).map(longestArray));
}

function refuse(status: number, code: string, message: string): Response {
  return Response.json({ code, message }, { status });
}
