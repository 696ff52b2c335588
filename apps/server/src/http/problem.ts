/**
 * The edge where errors become answers (RFC 9457). A refusal of ours is shown as it is; anything else answers 500 with
 * the request's id and nothing more, and its cause goes to the log.
 */
import { AppError, errorTable, type Problem } from "@executor/contracts/error";
import type { Logger } from "@executor/core/log";

export function answerProblem(error: unknown, requestId: string, log: Logger): Response {
  const refusal = error instanceof AppError ? error : hide(error, requestId, log);
  const { status, title } = errorTable[refusal.code];
  if (status >= 500 && error instanceof AppError) log.error("request.failed", { requestId, error });
  const problem: Problem = {
    type: `/api/docs#${refusal.code}`,
    title,
    status,
    code: refusal.code,
    detail: refusal.detail,
    requestId,
    ...(refusal.data && { data: refusal.data }),
  };
  return new Response(JSON.stringify(problem), {
    status,
    headers: { "content-type": "application/problem+json", ...extraHeaders(refusal) },
  });
}

function hide(error: unknown, requestId: string, log: Logger): AppError {
  log.error("request.crashed", { requestId, error: error instanceof Error ? error : String(error) });
  return new AppError(
    "internal.error",
    `Something went wrong on our side. The log tells more under request ${requestId}.`,
  );
}

function extraHeaders({ code, data }: AppError): Record<string, string> {
  if (code === "auth.required" || code === "auth.invalid") return { "www-authenticate": "Bearer" };
  if (typeof data?.["retryAfterSeconds"] === "number") return { "retry-after": String(data["retryAfterSeconds"]) };
  if (code === "route.method_not_allowed" && Array.isArray(data?.["allow"])) return { allow: data["allow"].join(", ") };
  return {};
}
