/** A loopback server that holds every request against the routes table and refuses what does not fit, as the real one does. */
import { type Route, type RouteName, routes } from "@executor/contracts/http";
import { json, type Loopback, problem, startLoopback } from "./loopback.ts";

export interface ContractServer extends Loopback {
  /** The routes that were called, with what came in. */
  calls: { route: RouteName; body: unknown; query: Record<string, string> }[];
}

type Answers = Partial<Record<RouteName, (query: Record<string, string>) => unknown>>;

export function startContractServer(answers: Answers): ContractServer {
  const calls: ContractServer["calls"] = [];
  const server = startLoopback(({ method, path, body }) => {
    const url = new URL(path, "http://x");
    const query = Object.fromEntries(url.searchParams);
    const name = findRoute(method, url.pathname);
    if (!name) return problem(404, "route.not_found");
    const route: Route = routes[name];
    const fits = [
      route.query?.safeParse(query) ?? { success: url.search === "" },
      route.body?.safeParse(body) ?? { success: body === undefined },
    ];
    if (fits.some(({ success }) => !success)) return problem(400, "request.invalid");
    calls.push({ route: name, body, query });
    const value = answers[name]?.(query);
    const status = Number(Object.keys(route.responses)[0]);
    return status === 204 ? new Response(null, { status }) : json(value ?? {}, status);
  });
  return { ...server, calls };
}

/** A literal path wins over one with a parameter: /api/policies/test is no policy. */
function findRoute(method: string, path: string): RouteName | undefined {
  const names = Object.keys(routes) as RouteName[];
  const matches = names.filter((name) => {
    const route = routes[name];
    const pattern = new RegExp(`^${route.path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
    return route.method.toUpperCase() === method && pattern.test(path);
  });
  return matches.find((name) => routes[name].path === path) ?? matches[0];
}
