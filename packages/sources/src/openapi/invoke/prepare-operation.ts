/** A call of an operation, made ready: the request is built and checked here, and leaves only with `send`. */
import type { CallIo } from "@executor/core/ports/source";
import type { Prepared, ToolCall } from "@executor/core/tools/tool";
import { sendRequest } from "../../http/send-request.ts";
import type { Operation, Resolve } from "../operation.ts";
import { buildRequest } from "./build-request.ts";
import { serverUrl } from "./server-url.ts";

export interface PrepareOperation {
  operation: Operation;
  resolve: Resolve;
  baseUrl: string | null;
  documentUrl: string | null;
  serverVariables: Readonly<Record<string, string>>;
  headers: Readonly<Record<string, string>>;
  call: ToolCall;
  io: CallIo;
  safe: boolean;
}

export async function prepareOperation(args: PrepareOperation): Promise<Prepared> {
  const { operation, resolve, headers, call, io, safe } = args;
  const { toolPath, callId, signal } = call;
  const authPlaces = io.auth.parts.map(({ in: place, name }) => ({ in: place, name }));
  const context = { resolve, server: serverUrl(operation, args), headers, authPlaces, toolPath, callId };
  const { body, ...request } = buildRequest(operation, call.input, context);
  return { kind: "ready", send: () => sendRequest({ ...request, body: body as BodyInit | null, safe, signal }, io) };
}
