/** A real authorization server (oidc-provider) and an API that takes its tokens, both on loopback; and a person who signs in. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { petDocument } from "@executor/testkit/tools/openapi-server";
// oidc-provider has no types of its own.
// @ts-expect-error -- untyped
import Provider from "oidc-provider";

export interface OauthWorld {
  issuer: string;
  apiUrl: string;
  /** Grants of refresh tokens, as the provider saw them. */
  refreshes: string[];
  calls: { authorized: boolean; token: string }[];
  /** Ends every sign-in on the provider's side. */
  revokeAll(): Promise<void>;
  /** Goes through login and consent as a person would; gives the answer of the product's callback. */
  signIn(authorizationUrl: string): Promise<Response>;
  stop(): Promise<void>;
}

interface ProviderModel {
  find(
    value: string,
  ): Promise<{ isExpired?: boolean; isValid?: boolean; destroy(): Promise<void>; jti: string } | undefined>;
}

export async function startOauthWorld({ tokenSeconds = 60 } = {}): Promise<OauthWorld> {
  const server = createServer();
  const issuer = await listen(server);
  const refreshes: string[] = [];
  const provider = new Provider(issuer, {
    scopes: ["openid", "offline_access", "pets"],
    clientDefaults: { grant_types: ["authorization_code", "refresh_token"], response_types: ["code"] },
    features: {
      registration: { enabled: true },
      revocation: { enabled: true },
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({ scope: "pets", accessTokenFormat: "opaque", accessTokenTTL: tokenSeconds }),
        useGrantedResource: () => true,
      },
    },
    pkce: { required: () => true },
    issueRefreshToken: () => true,
    rotateRefreshToken: () => true,
    ttl: { AccessToken: tokenSeconds, RefreshToken: 3_600, Session: 3_600, Grant: 3_600, Interaction: 600 },
    cookies: { keys: ["loopback"] },
  }) as {
    callback(): (request: unknown, response: unknown) => void;
    on(
      event: string,
      listener: (context: { oidc: { params?: Record<string, string>; entities: { Grant?: { jti: string } } } }) => void,
    ): void;
    AccessToken: ProviderModel;
    Grant: ProviderModel;
  };
  const grants = new Set<string>();
  provider.on("grant.success", ({ oidc }) => {
    if (oidc.entities.Grant) grants.add(oidc.entities.Grant.jti);
    if (oidc.params?.["grant_type"] === "refresh_token") refreshes.push(oidc.params["refresh_token"] ?? "");
  });
  server.on("request", provider.callback());

  const calls: OauthWorld["calls"] = [];
  const api = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname, origin } = new URL(request.url);
      if (pathname === "/openapi.json") return Response.json(petDocument(origin));
      if (pathname.startsWith("/.well-known/oauth-protected-resource"))
        return Response.json({ resource: origin, authorization_servers: [issuer], scopes_supported: ["pets"] });
      const token = request.headers.get("authorization")?.replace("Bearer ", "") ?? "";
      const found = token === "" ? undefined : await provider.AccessToken.find(token);
      const authorized = found !== undefined && found.isValid !== false && found.isExpired !== true;
      calls.push({ authorized, token });
      if (authorized) return Response.json([{ id: 1, name: "Rex" }]);
      const challenge = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource"`;
      return Response.json({ message: "sign in" }, { status: 401, headers: { "www-authenticate": challenge } });
    },
  });
  return {
    issuer,
    apiUrl: `http://127.0.0.1:${api.port}`,
    refreshes,
    calls,
    async revokeAll() {
      for (const id of grants) await (await provider.Grant.find(id))?.destroy();
    },
    signIn: walkThrough,
    async stop() {
      await api.stop(true);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Follows redirects with its cookies, fills in what is asked, and stops at the first page of another kind. */
async function walkThrough(start: string): Promise<Response> {
  const cookies = new Map<string, string>();
  let url = start;
  let form: URLSearchParams | null = null;
  for (let step = 0; step < 20; step++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response: Response = await fetch(url, {
      method: form ? "POST" : "GET",
      redirect: "manual",
      headers: { cookie, ...(form && { "content-type": "application/x-www-form-urlencoded" }) },
      ...(form && { body: form.toString() }),
    });
    form = null;
    for (const line of response.headers.getSetCookie()) {
      const [pair = ""] = line.split(";", 1);
      const at = pair.indexOf("=");
      if (pair.slice(at + 1) === "") cookies.delete(pair.slice(0, at));
      else cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    const next = response.headers.get("location");
    if (next !== null) {
      url = new URL(next, url).href;
      continue;
    }
    if (!url.includes("/interaction/")) return response;
    const isLogin = (await response.text()).includes('name="login"');
    form = new URLSearchParams(isLogin ? { prompt: "login", login: "ann", password: "x" } : { prompt: "consent" });
  }
  throw new Error("the sign-in goes round in circles");
}
