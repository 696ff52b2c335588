/**
 * Turns what a transfer threw into an AppError that is safe to show. The original is dropped on purpose: it holds the whole URL,
 * keys in the query included, and the address that was connected to.
 * `data.sent` says whether the request may have reached the other side: false only where it surely has not.
 */
import { AppError } from "@executor/contracts/error";
import type { Deadline } from "./deadline.ts";

/** `target` is a host at most: paths and queries hold secrets. */
export function egressFailure(error: unknown, target: string, deadline: Deadline): unknown {
  const stopped = deadline.failure();
  if (stopped !== null) return stopped;
  if (error instanceof AppError) return error;
  const code = codeOf(error);
  if (isConnectFailure(error))
    return failed(
      `${target} could not be reached: nothing accepts connections there. Check host and port, and that it runs.`,
      false,
    );
  if (/CERT|TLS|SSL|VERIFY|SIGNATURE|ISSUER/i.test(code))
    return failed(`${target} could not be reached safely: its certificate is not valid for it (${code}).`, false);
  if (/Malformed|TooLarge|Invalid/i.test(code))
    return failed(`${target} answered with something that is not proper HTTP (${code}).`, true);
  if (/^E?CONN|RESET|PIPE|Closed|EOF/i.test(code))
    return failed(`${target} cut the connection before its answer was complete.`, true);
  return failed(`The exchange with ${target} failed${code === "" ? "" : ` (${code})`}.`, true);
}

/** Nothing was sent: another address of the same host may be tried. */
export const isConnectFailure = (error: unknown): boolean => connectFailures.has(codeOf(error));

const connectFailures = new Set([
  "ECONNREFUSED",
  "ConnectionRefused",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "EAFNOSUPPORT",
  "FailedToOpenSocket",
]);

export const failed = (detail: string, sent: boolean): AppError =>
  new AppError("egress.failed", detail, { data: { sent } });

function codeOf(error: unknown): string {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : "";
  return typeof code === "string" && /^[A-Za-z_]{1,60}$/.test(code) ? code : "";
}
