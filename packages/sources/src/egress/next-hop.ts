/**
 * Where a redirect leads and what goes along. Pure: the guard checks and sends it.
 * Credentials stay with the origin they were meant for: once dropped on the way they do not come back, and a step down from
 * https to http counts as leaving.
 */
import { AppError } from "@executor/contracts/error";
import type { GuardedInit } from "@executor/core/ports/source";

export interface Hop {
  url: URL;
  method: string;
  headers: Headers;
  body: BodyInit | null;
}

const redirects = new Set([301, 302, 303, 307, 308]);

/** Null: the answer is no redirect, or does not say where to. */
export function nextHop(
  from: Hop,
  status: number,
  location: string | null,
  sensitive: GuardedInit["sensitive"],
): Hop | null {
  if (!redirects.has(status) || location === null) return null;
  const url = readTarget(location, from.url);
  const becomesGet = status === 303 ? from.method !== "HEAD" : status < 303 && from.method === "POST";
  const method = becomesGet ? "GET" : from.method;
  const body = becomesGet ? null : from.body;
  const headers = new Headers(from.headers);
  if (becomesGet) for (const name of contentHeaders) headers.delete(name);
  if (url.origin === from.url.origin) return { url, method, headers, body };

  if (body !== null && from.url.protocol === "https:" && url.protocol === "http:")
    throw refusal(
      `${from.url.host} redirects a request with a body from https to http, where everyone on the way could read it.`,
    );
  for (const name of [...secretHeaders, ...(sensitive?.headers ?? [])]) headers.delete(name);
  for (const name of sensitive?.query ?? []) if (url.searchParams.has(name)) url.searchParams.delete(name);
  return { url, method, headers, body };
}

/** A body that is a stream is gone once it was sent. */
export const canSendAgain = (body: BodyInit | null): boolean => !(body instanceof ReadableStream);

const secretHeaders = ["authorization", "proxy-authorization", "cookie", "cookie2"];
const contentHeaders = ["content-type", "content-encoding", "content-language", "content-location"];

function readTarget(location: string, base: URL): URL {
  try {
    const url = new URL(location, base);
    url.hash = "";
    return url;
  } catch {
    throw refusal(`${base.host} redirects to something that is no URL.`);
  }
}

const refusal = (detail: string): AppError => new AppError("egress.refused", detail, { data: { sent: true } });
