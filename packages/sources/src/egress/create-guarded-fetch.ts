/**
 * The only way out: `fetch` with every request checked, connected to exactly the address that was checked, and bounded in size
 * and time. Redirects are followed here, never by the engine, so each one passes the same checks.
 * Never in an error: a path, a query, a header's value, an address that a name stands for.
 */
import { AppError } from "@executor/contracts/error";
import type { GuardedFetch, GuardedInit } from "@executor/core/ports/source";
import { type AddressSettings, createAddressRules } from "./address-rules.ts";
import { acceptEncoding, boundBody } from "./bound-body.ts";
import { type Deadline, startDeadline } from "./deadline.ts";
import { egressFailure, failed, isConnectFailure } from "./egress-failure.ts";
import { canSendAgain, type Hop, nextHop } from "./next-hop.ts";
import { canSendMethod } from "../http/sendable-methods.ts";
import { readRequestHeaders } from "./request-headers.ts";
import { createResolveHost, type HostLookup, type ResolvedHost, type ResolveHost } from "./resolve-host.ts";

export interface EgressSettings extends AddressSettings {
  userAgent: string;
  /** Default: the system's. */
  lookup?: HostLookup;
  /** PEM of certificate authorities to trust instead of the usual ones. */
  ca?: string;
  maxBytes?: number;
  timeoutMs?: number;
}

const MAX_REDIRECTS = 5;
const MAX_URL_LENGTH = 64_000;
const MAX_ANSWER_HEADER_LENGTH = 128_000;
const DEFAULT_MAX_BYTES = 50_000_000;
const DEFAULT_TIMEOUT_MS = 60_000;

export function createGuardedFetch(settings: EgressSettings): GuardedFetch {
  const resolve = createResolveHost(createAddressRules(settings), settings.lookup);
  const defaults = { userAgent: settings.userAgent, acceptEncoding };

  return async function guardedFetch(input, init = {}) {
    let hop: Hop = {
      url: readUrl(input),
      method: readMethod(init.method),
      headers: readRequestHeaders(init.headers, defaults),
      body: init.body ?? null,
    };
    const deadline = startDeadline(
      init.timeoutMs ?? settings.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      init.signal,
      () => hop.url.host,
    );
    const bounds = { maxBytes: init.maxBytes ?? settings.maxBytes ?? DEFAULT_MAX_BYTES, deadline };
    const sending: Sending = { resolve, deadline, ca: settings.ca, publicOnly: init.publicOnly === true };
    let received: Response | null = null;
    try {
      for (let followed = 0; ; followed++) {
        received = await sendHop(hop, sending);
        const next =
          init.redirect === "manual"
            ? null
            : nextHop(hop, received.status, received.headers.get("location"), init.sensitive);
        if (next === null)
          return await deliver(received, hop, followed, sending.publicOnly, { ...bounds, target: hop.url.host });
        checkRedirect(next, hop, followed, init);
        discard(received);
        hop = next;
      }
    } catch (error) {
      if (received !== null) discard(received);
      const failure = egressFailure(error, hop.url.host, deadline);
      deadline.end();
      throw failure;
    }
  };
}

function readUrl(input: string | URL): URL {
  const text = String(input);
  if (text.length > MAX_URL_LENGTH)
    throw refusal(`A URL may have ${MAX_URL_LENGTH} characters; this one has ${text.length}.`);
  // The URL parser silently drops line breaks and tabs: what was checked elsewhere would not be what is sent.
  if (/[\u0000-\u0020\u007f]/.test(text))
    throw refusal("The URL has a space, a line break or a control character in it: encode it.");
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) throw refusal("That is no URL. One with http:// or https:// and a host is expected.");
  return checkedUrl(url);
}

function checkedUrl(url: URL): URL {
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw refusal(`Only http and https URLs are fetched, and this one is ${url.protocol.slice(0, 20)}`);
  if (url.username !== "" || url.password !== "")
    throw refusal(
      `The URL for ${url.host} has a user name or password in it. Leave them out and give them as a credential.`,
    );
  return url;
}

function readMethod(method = "GET"): string {
  const upper = method.toUpperCase();
  if (!canSendMethod(upper)) throw refusal("The HTTP method is not one that may be sent.");
  return upper;
}

function checkRedirect(next: Hop, from: Hop, followed: number, init: GuardedInit): void {
  if (init.redirect === "error") throw failed(`${from.url.host} redirects, which was not expected here.`, true);
  if (followed >= MAX_REDIRECTS)
    throw failed(`${from.url.host} redirects on and on; ${MAX_REDIRECTS} are followed.`, true);
  if (!canSendAgain(next.body))
    throw failed(`${from.url.host} redirects, but the body was a stream and is gone.`, true);
  checkedUrl(next.url);
}

interface Sending {
  resolve: ResolveHost;
  deadline: Deadline;
  ca: string | undefined;
  /** Somebody on the internet says where to go: from there no way leads back to this machine or its network. */
  publicOnly: boolean;
}

async function sendHop(hop: Hop, sending: Sending): Promise<Response> {
  const found = sending.resolve(hop.url, sending.deadline.signal);
  const host = found instanceof Promise ? await found : found;
  if (sending.publicOnly && !host.isPublic)
    throw refusal(
      `${hop.url.host} is of this machine or a private network, and what leads there came from the internet. If it is meant, name that address in the source itself (baseUrl).`,
    );
  sending.publicOnly ||= host.isPublic;
  const last = host.addresses.length - 1;
  for (const [at, address] of host.addresses.entries()) {
    try {
      return checkAnswer(await connect(hop, host, address, sending), hop);
    } catch (error) {
      if (at === last || !isConnectFailure(error) || !canSendAgain(hop.body)) throw error;
      host.failed(address);
    }
  }
  throw failed(`${hop.url.host} has no address.`, false);
}

/**
 * The URL holds the checked address, so that is where the connection goes; the name travels in Host and, for https, in SNI, and
 * is what the certificate must be for. Connections are kept per address, port and name.
 */
function connect(hop: Hop, host: ResolvedHost, address: string, sending: Sending): Promise<Response> {
  const { url } = hop;
  const headers = new Headers(hop.headers);
  headers.set("host", host.name === null ? url.host : url.port === "" ? host.name : `${host.name}:${url.port}`);
  const port = url.port === "" ? "" : `:${url.port}`;
  const isTls = url.protocol === "https:";
  return fetch(`${url.protocol}//${address}${port}${url.pathname}${url.search}`, {
    method: hop.method,
    headers,
    body: hop.body,
    redirect: "manual",
    signal: sending.deadline.signal,
    // Unpacked here, where it is counted; and no proxy from the environment: it would connect to something else.
    decompress: false,
    proxy: false,
    // On a kept connection that was cut, the engine sends PUT and DELETE again by itself; on a fresh one nothing is sent twice.
    ...((hop.method === "PUT" || hop.method === "DELETE") && { keepalive: false }),
    // Our own deadline holds; the engine's idle limit of five minutes would end a quiet stream.
    timeout: false,
    ...(isTls && {
      tls: {
        ...(host.name !== null && { serverName: host.name }),
        ...(sending.ca !== undefined && { ca: sending.ca }),
      },
    }),
  } as unknown as RequestInit);
}

function checkAnswer(response: Response, hop: Hop): Response {
  let length = 0;
  for (const [name, value] of response.headers) length += name.length + value.length;
  if (length > MAX_ANSWER_HEADER_LENGTH) {
    discard(response);
    throw failed(
      `${hop.url.host} answered with ${length} characters of headers; ${MAX_ANSWER_HEADER_LENGTH} is the limit.`,
      true,
    );
  }
  if (response.status >= 200 && response.status <= 599) return response;
  discard(response);
  throw failed(`${hop.url.host} answered with the status ${response.status}, which is not one of HTTP.`, true);
}

const bodiless = new Set([204, 205, 304]);

async function deliver(
  received: Response,
  hop: Hop,
  followed: number,
  isPublic: boolean,
  bounds: Parameters<typeof boundBody>[1],
): Promise<Response> {
  const body = bodiless.has(received.status) || hop.method === "HEAD" ? null : await boundBody(received, bounds);
  if (body === null) bounds.deadline.end();
  const { headers } = received;
  if (headers.has("content-encoding")) {
    headers.delete("content-encoding");
    headers.delete("content-length");
  }
  const response = new Response(body as BodyInit | null, {
    status: received.status,
    statusText: received.statusText,
    headers,
  });
  // Where the answer came from in the end: relative links in a document are meant relative to that.
  Object.defineProperty(response, "url", { value: hop.url.href });
  Object.defineProperty(response, "redirected", { value: followed > 0 });
  // What is in it was written by somebody on the internet.
  Object.defineProperty(response, "isPublic", { value: isPublic });
  return response;
}

function discard(response: Response): void {
  response.body?.cancel().catch(() => undefined);
}

const refusal = (detail: string): AppError => new AppError("egress.refused", detail, { data: { sent: false } });
