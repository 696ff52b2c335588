/** Plain requests to an installation, for what the SDK would not send or would hide. */
import { bootstrap, createExecutor, type Executor, type Session } from "@executor/client";
import type { Installation } from "@executor/testkit/installation/start-installation";

export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed when it is JSON, else the text. */
  body: Body;
}

export interface Body {
  code?: string;
  [field: string]: unknown;
}

export interface AskOptions {
  token?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** `route` is "POST /api/tasks": a method and a path. */
export async function ask(
  url: string,
  route: string,
  { token, body, headers, signal }: AskOptions = {},
): Promise<Answer> {
  const [method = "GET", path = "/"] = route.split(" ");
  const response = await fetch(url + path, {
    method,
    redirect: "manual",
    signal: signal ?? null,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: parse(text) };
}

function parse(text: string): Body {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return { text };
  }
}

export interface Person {
  session: Session;
  token: string;
  workspaceId: string;
  executor: Executor;
  ask(route: string, options?: AskOptions): Promise<Answer>;
}

/** A new anonymous session with a workspace of its own. */
export async function signIn({ url }: Pick<Installation, "url">): Promise<Person> {
  const session = await bootstrap({ baseUrl: url });
  return personOf(url, session.sessionId, session);
}

export function personOf(url: string, token: string, session: Session): Person {
  const { workspaceId } = session;
  const executor = createExecutor({ baseUrl: url, token, workspaceId });
  return {
    session,
    token,
    workspaceId,
    executor,
    ask: (route, options = {}) => ask(url, route, { token, ...options }),
  };
}
