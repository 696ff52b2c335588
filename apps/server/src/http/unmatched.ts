/** What answers under /api when no row of the table does: which methods a path has, or that there is no such path. */
import { AppError } from "@executor/contracts/error";
import { routeTable } from "./serve-routes.ts";

const patterns = routeTable.map(([, route]) => ({
  method: route.method.toUpperCase(),
  matches: new RegExp(`^${route.path.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}$`),
}));

export function answerUnmatched(method: string, path: string): Response {
  const allow = methodsOf(path);
  if (allow.length === 0)
    throw new AppError("route.not_found", "There is no such route. GET /api/openapi.json lists all of them.");
  if (method === "OPTIONS") return new Response(null, { status: 204, headers: { allow: allow.join(", ") } });
  throw new AppError("route.method_not_allowed", `This route serves ${allow.join(", ")}.`, { data: { allow } });
}

function methodsOf(path: string): string[] {
  const methods = new Set(patterns.filter(({ matches }) => matches.test(path)).map(({ method }) => method));
  if (methods.has("GET")) methods.add("HEAD");
  return methods.size === 0 ? [] : [...methods, "OPTIONS"];
}
