/** The doors that need no bearer: they give one. A session's `sessionId` is the token of `createExecutor`; keep it secret. */
import type { Session } from "@executor/contracts/identity";
import { createHttp, type Fetch, type RequestOptions } from "./http.ts";

interface Door extends RequestOptions {
  baseUrl: string;
  fetch?: Fetch;
}

export interface BootstrapOptions extends Door {
  /** A session to go on with. One the server does not know is replaced by a fresh one. */
  sessionId?: string;
}

/** An anonymous session with a workspace of its own, where the installation allows that. */
export async function bootstrap({ sessionId, signal, ...door }: BootstrapOptions): Promise<Session> {
  return createHttp(door).call("bootstrap", { body: { sessionId }, signal });
}

export interface ExchangeCodeOptions extends Door {
  /** From a login link or an invite; good for one use. */
  code: string;
}

export async function exchangeCode({ code, signal, ...door }: ExchangeCodeOptions): Promise<Session> {
  return createHttp(door).call("exchange", { body: { code }, signal });
}
