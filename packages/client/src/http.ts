/**
 * The only file that calls fetch. Sends one request, repeats it where that is safe, and turns every failure into an ExecutorError.
 * The token lives in the closure of `createHttp`: it is no property of anything, and no error is made from a header.
 */
import { type Answer, type Endpoint, endpoints, type Input } from "./endpoints.ts";
import { ExecutorError } from "./error.ts";
import { readJson, readProblem, refuseForeignAnswer } from "./read-answer.ts";
import { fillPath, readBaseUrl, readToken, writeQuery } from "./request-parts.ts";
import { abortError, openScope, throwIfAborted } from "./scope.ts";
import { defaultTiming, type Timing } from "./timing.ts";
import { withRetries } from "./with-retries.ts";

/** A part of the global one: a wrapper need not imitate the rest. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface HttpOptions {
  baseUrl: string;
  token?: string;
  fetch?: Fetch;
  timing?: Partial<Timing>;
}

/** The last argument of every method. */
export interface RequestOptions {
  signal?: AbortSignal;
}

interface SendOptions extends RequestOptions {
  /** The server may take so long on purpose (`?wait`). */
  waitMs?: number;
  /** A repeat changes nothing more. A GET always is; of the POSTs only a create with an idempotencyKey. */
  idempotent?: boolean;
  retries?: number;
  /** Statuses that are an answer although they are not 2xx. */
  accept?: number[];
  lastEventId?: string;
}

type Send<E extends Endpoint> = Input<E> & SendOptions;

export interface Http {
  timing: Timing;
  call<E extends Endpoint>(endpoint: E, input: Send<E>): Promise<Answer<E>>;
  /** The same for an answer that is no JSON. */
  text<E extends "toolTypes">(endpoint: E, input: Send<E>): Promise<string>;
  /** One attempt at a stream of events. It has no time limit of its own: it lives and dies with the signal. */
  open<E extends "taskEvents" | "workspaceEvents">(endpoint: E, input: Send<E>): Promise<Response>;
}

type ReadAnswer<T> = (name: string, response: Response) => Promise<T>;

interface HttpRequest extends SendOptions {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string;
}

export function createHttp(options: HttpOptions): Http {
  const baseUrl = readBaseUrl(options.baseUrl);
  const token = readToken(options.token);
  const timing = { ...defaultTiming, ...options.timing };
  const doFetch: Fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));

  const compose = <E extends Endpoint>(endpoint: E, input: Send<E>, accept: string): HttpRequest => {
    const [method = "", path = ""] = endpoints[endpoint].split(" ");
    const {
      params = {},
      query = {},
      body,
      ...rest
    } = input as SendOptions & { params?: object; query?: object; body?: object };
    return {
      ...rest,
      method,
      url: baseUrl + fillPath(path, params) + writeQuery(query),
      headers: {
        accept,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body && { "content-type": "application/json" }),
        ...(rest.lastEventId !== undefined && { "last-event-id": rest.lastEventId }),
      },
      ...(body && { body: JSON.stringify(body) }),
    };
  };

  /** One attempt: from the first byte sent until `read` is done with the answer. */
  const attempt = async <T>(
    { method, url, headers, body, accept }: HttpRequest,
    signal: AbortSignal | undefined,
    read: ReadAnswer<T>,
  ): Promise<T> => {
    throwIfAborted(signal);
    const name = `${method} ${url}`;
    try {
      // Redirects: the bearer must not travel to where one points, and a redirected POST would arrive as a GET.
      const response = await doFetch(url, { method, headers, body, signal, redirect: "manual" });
      refuseForeignAnswer(name, response);
      if (!response.ok && !accept?.includes(response.status)) throw await readProblem(name, response);
      return await read(name, response);
    } catch (error) {
      if (error instanceof ExecutorError) throw error;
      if (signal?.aborted) throw abortError(signal);
      const message = error instanceof Error ? error.message : String(error);
      throw new ExecutorError("client.unreachable", `${name}: ${message}`, { cause: error });
    }
  };

  /** One attempt for an answer that must come in time. */
  const attemptInTime = async <T>(request: HttpRequest, read: ReadAnswer<T>): Promise<T> => {
    const timeoutMs = timing.requestTimeoutMs + (request.waitMs ?? 0);
    const timeoutError = () =>
      new ExecutorError("client.unreachable", `${request.method} ${request.url}: no answer within ${timeoutMs} ms`);
    const scope = openScope({ signal: request.signal, timeoutMs, timeoutError });
    try {
      return await attempt(request, scope.signal, read);
    } finally {
      scope.close();
    }
  };

  const repeat = <T>(request: HttpRequest, read: ReadAnswer<T>): Promise<T> => {
    const isRepeatable = request.idempotent ?? request.method === "GET";
    const retries = isRepeatable ? (request.retries ?? timing.retries) : 0;
    return withRetries(timing, retries, request.signal, () => attemptInTime(request, read));
  };

  return {
    timing,
    call: async <E extends Endpoint>(endpoint: E, input: Send<E>) =>
      repeat(compose(endpoint, input, "application/json"), readJson<Answer<E>>),
    text: async (endpoint, input) =>
      repeat(compose(endpoint, input, "text/plain"), (_name, response) => response.text()),
    async open(endpoint, input) {
      const request = compose(endpoint, input, "text/event-stream");
      return attempt(request, request.signal, async (name, response) => {
        const type = response.headers.get("content-type") ?? "";
        if (type.startsWith("text/event-stream")) return response;
        throw new ExecutorError("client.bad_answer", `${name}: expected text/event-stream, got ${type || "no type"}`, {
          status: response.status,
        });
      });
    },
  };
}
