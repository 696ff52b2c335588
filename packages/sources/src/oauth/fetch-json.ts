/**
 * Fetches one small JSON object of a provider through the guard. What is not there (404, a page instead of JSON, a redirect to
 * another host) is a value, because discovery then looks elsewhere; a guard's refusal and a server in trouble are thrown.
 * A redirect leads on only within the same origin: whoever answers elsewhere does not speak for this one.
 */
import { AppError } from "@executor/contracts/error";
import type { GuardedFetch } from "@executor/core/ports/source";

export const MAX_JSON_BYTES = 1_000_000;
const TIMEOUT_MS = 15_000;
const MAX_REDIRECTS = 3;

export type FetchedJson = { found: Record<string, unknown> } | { missing: string };

export async function fetchJson(fetch: GuardedFetch, start: string): Promise<FetchedJson> {
  let url = start;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const response = await fetch(url, {
      headers: { accept: "application/json" },
      redirect: "manual",
      maxBytes: MAX_JSON_BYTES,
      timeoutMs: TIMEOUT_MS,
    });
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      const next = response.headers.get("location") ?? "";
      if (!URL.canParse(next, url)) return { missing: `${start} redirects to nowhere` };
      const target = new URL(next, url);
      if (target.origin !== new URL(url).origin)
        return { missing: `${start} redirects to another host, ${target.host}` };
      url = target.href;
      continue;
    }
    return await readAnswer(start, response);
  }
  return { missing: `${start} redirects too often` };
}

async function readAnswer(url: string, response: Response): Promise<FetchedJson> {
  if (response.status >= 500) {
    await response.body?.cancel();
    throw new AppError(
      "egress.failed",
      `${url} answered ${response.status}, so sign-in cannot be prepared now. Try again later.`,
    );
  }
  if (response.status !== 200) {
    await response.body?.cancel();
    return { missing: `${url} answered ${response.status}` };
  }
  const found = parseObject(await response.text());
  return found ? { found } : { missing: `${url} does not answer with a JSON object` };
}

/** Null for anything but a JSON object. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
