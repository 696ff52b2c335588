/**
 * Messages of the isolate protocol as lines, both ways. Reading never throws: what is no message comes back as the error that JSON-RPC
 * has for it. Nothing here looks at methods or tokens.
 */
import { type IsolateErrorBody, isolateErrors, type IsolateMessage } from "@executor/contracts/isolate-rpc";

export type ReadMessage =
  | { ok: true; message: IsolateMessage }
  | { ok: false; id: number | string | null; error: IsolateErrorBody };

export function readMessage(line: string): ReadMessage {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return refuse(null, isolateErrors.parse, "the line is no JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return refuse(null, isolateErrors.invalidRequest, "a message is one JSON object; batches are not taken");
  const { jsonrpc, id, method, params = {}, token = "", result, error } = value as Record<string, unknown>;
  const hasId = typeof id === "number" ? Number.isSafeInteger(id) : typeof id === "string" && id.length <= 100;
  const knownId = hasId ? (id as number | string) : null;
  if (jsonrpc !== "2.0") return refuse(knownId, isolateErrors.invalidRequest, 'jsonrpc must be "2.0"');
  if (typeof token !== "string") return refuse(knownId, isolateErrors.invalidRequest, "token must be a string");
  if (id !== undefined && id !== null && !hasId)
    return refuse(
      null,
      isolateErrors.invalidRequest,
      "id must be a whole number or a string of at most 100 characters",
    );
  if (method !== undefined) {
    if (typeof method !== "string") return refuse(knownId, isolateErrors.invalidRequest, "method must be a string");
    if (!isObject(params)) return refuse(knownId, isolateErrors.invalidParams, "params must be an object");
    if (knownId === null) return { ok: true, message: { kind: "notification", method, params, token } };
    return { ok: true, message: { kind: "request", id: knownId, method, params, token } };
  }
  if (isObject(error)) {
    const { code, message, data } = error;
    if (!Number.isSafeInteger(code) || typeof message !== "string")
      return refuse(knownId, isolateErrors.invalidRequest, "an error has a whole number as code and a message");
    return { ok: true, message: { kind: "error", id: knownId, error: { code: code as number, message, data }, token } };
  }
  if (knownId === null || result === undefined)
    return refuse(knownId, isolateErrors.invalidRequest, "a message has a method, or an id with a result or an error");
  return { ok: true, message: { kind: "result", id: knownId, result, token } };
}

/** One line, its line feed included. */
export function writeMessage(message: IsolateMessage): string {
  const { token } = message;
  const head = '{"jsonrpc":"2.0"';
  const auth = token === "" ? "" : `,"token":${JSON.stringify(token)}`;
  switch (message.kind) {
    case "request":
      return `${head},"id":${JSON.stringify(message.id)},"method":"${message.method}"${auth},"params":${JSON.stringify(message.params)}}\n`;
    case "notification":
      return `${head},"method":"${message.method}"${auth},"params":${JSON.stringify(message.params)}}\n`;
    case "result":
      return `${head},"id":${JSON.stringify(message.id)}${auth},"result":${JSON.stringify(message.result)}}\n`;
    case "error":
      return `${head},"id":${JSON.stringify(message.id)}${auth},"error":${JSON.stringify(message.error)}}\n`;
  }
}

function refuse(id: number | string | null, code: number, message: string): ReadMessage {
  return { ok: false, id, error: { code, message } };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
