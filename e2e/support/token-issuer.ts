/** A real authorization server (oidc-provider) whose signing key the test knows, so that it can also make tokens it never would. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
// oidc-provider has no types of its own.
// @ts-expect-error -- untyped
import Provider from "oidc-provider";

export interface TokenIssuer {
  issuer: string;
  key: CryptoKey;
  publicPem: string;
  kid: string;
  /** As a client gets one: made by the provider for a resource. */
  grant(resource: string, scope: string): Promise<string>;
  /** Signed with the provider's own key, unless told otherwise. */
  mint(claims: JWTPayload, options?: { key?: CryptoKey; kid?: string; alg?: string }): Promise<string>;
  stop(): Promise<void>;
}

const CLIENT = { client_id: "an-agent", client_secret: "s3cret-of-the-agent" };

export async function startTokenIssuer(): Promise<TokenIssuer> {
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  const kid = "key-1";
  const jwk = { ...(await exportJWK(privateKey)), kid, alg: "RS256", use: "sig" };
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    jwks: { keys: [jwk] },
    clients: [{ ...CLIENT, grant_types: ["client_credentials"], redirect_uris: [], response_types: [] }],
    scopes: ["executor:agent", "executor:reviewer", "executor:admin"],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context: unknown, resource: string) => ({
          scope: "executor:agent executor:reviewer executor:admin",
          audience: resource,
          accessTokenFormat: "jwt",
          accessTokenTTL: 300,
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
    cookies: { keys: ["loopback"] },
  }) as { callback(): (request: unknown, response: unknown) => void };
  server.on("request", provider.callback());
  return {
    issuer,
    key: privateKey,
    kid,
    publicPem: JSON.stringify(await exportJWK(publicKey)),
    async grant(resource, scope) {
      const response = await fetch(`${issuer}/token`, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ grant_type: "client_credentials", resource, scope, ...CLIENT }),
      });
      const { access_token: token } = (await response.json()) as { access_token?: string };
      if (token === undefined) throw new Error(`the provider gave no token: ${response.status}`);
      return token;
    },
    mint: (claims, { key = privateKey, kid: keyId = kid, alg = "RS256" } = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg, kid: keyId }).sign(key),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
