/** An authorization server whose every answer holds a canary, and which repeats what it is sent when it refuses. */
import type { Canaries } from "./canaries.ts";

export interface FakeOauth {
  url: string;
  /** Bodies of requests to its token endpoint. */
  requests: URLSearchParams[];
  /** Refreshes are refused from now on. */
  refuses: boolean;
  stop(): Promise<void>;
}

export function startFakeOauth(canaries: Canaries): FakeOauth {
  let count = 0;
  const tokens = () => ({
    access_token: canaries.make(`access token ${++count}`),
    refresh_token: canaries.make(`refresh token ${count}`),
    token_type: "Bearer",
    expires_in: 1,
  });
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname, origin } = new URL(request.url);
      if (pathname.startsWith("/.well-known/oauth-authorization-server"))
        return Response.json({
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["client_secret_post"],
        });
      if (pathname === "/register")
        return Response.json(
          {
            client_id: "registered",
            client_secret: canaries.make("registered client secret"),
            token_endpoint_auth_method: "client_secret_post",
          },
          { status: 201 },
        );
      if (pathname !== "/token") return new Response(null, { status: 404 });
      const params = new URLSearchParams(await request.text());
      self.requests.push(params);
      const verifier = params.get("code_verifier");
      if (verifier !== null) canaries.add(`verifier ${self.requests.length}`, verifier);
      const told = [...params.values()].join(" ");
      if (params.get("code") === "refused" || self.refuses)
        return Response.json({ error: "invalid_grant", error_description: `refused: ${told}` }, { status: 400 });
      return Response.json(tokens());
    },
  });
  const self: FakeOauth = {
    url: `http://127.0.0.1:${server.port}`,
    requests: [],
    refuses: false,
    stop: () => server.stop(true),
  };
  return self;
}
