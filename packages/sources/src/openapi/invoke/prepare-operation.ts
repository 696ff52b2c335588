/**
 * Makes a call of an operation ready: where it goes, what is sent. Nothing leaves before `send`; the credential is put in there,
 * by http/, into this one request to the chosen server.
 */
import type { CallIo } from "@executor/core/ports/source";
import type { Prepared, ToolCall } from "@executor/core/tools/tool";
import { sendRequest } from "../../http/send-request.ts";
import type { Operation, Resolve } from "../operation.ts";
import { buildRequest } from "./build-request.ts";
import { serverUrl } from "./server-url.ts";

export interface PrepareArgs {
  operation: Operation;
  resolve: Resolve;
  baseUrl: string | null;
  documentUrl: string | null;
  documentIsPublic: boolean;
  serverVariables: Record<string, string>;
  headers: Record<string, string>;
  call: ToolCall;
  io: CallIo;
  /** May be sent again when it is lost. */
  safe: boolean;
}

export async function prepareOperation(args: PrepareArgs): Promise<Prepared> {
  const { operation, call, io } = args;
  const request = buildRequest(operation, call.input, {
    resolve: args.resolve,
    server: serverUrl(operation, args),
    headers: args.headers,
    authPlaces: io.auth.parts,
    toolPath: call.toolPath,
    callId: call.callId,
  });
  // A document from the internet says where to go on the internet; for this machine it takes a baseUrl.
  const publicOnly = args.baseUrl === null && args.documentIsPublic;
  const { safe } = args;
  const body = request.body as BodyInit | null;
  return {
    kind: "ready",
    send: () => sendRequest({ ...request, body, safe, publicOnly, signal: call.signal }, io),
  };
}
