/** Sign-ins attacked from the provider's side: where discovery leads, what answers claim, what errors repeat (S14, D04). */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { AppError } from "@executor/contracts/error";
import type { PublicAuth } from "@executor/core/ports/source";
import { createLoopbackFetch } from "@executor/testkit/tools/loopback-fetch";
import { createGuardedFetch } from "../egress/create-guarded-fetch.ts";
import { discoverAuthorization } from "./discover-authorization.ts";
import { finishFlow, startFlow } from "./oauth-flows.ts";
import { checkOauthUrl } from "./oauth-url.ts";
import { refreshTokens } from "./refresh-tokens.ts";

const asked: string[] = [];
let pages: Record<string, (request: Request) => Response | Promise<Response>> = {};
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request) {
    const { pathname } = new URL(request.url);
    asked.push(pathname);
    return pages[pathname]?.(request) ?? new Response(null, { status: 404 });
  },
});
const url = `http://127.0.0.1:${server.port}`;
afterAll(() => server.stop(true));
beforeEach(() => {
  asked.length = 0;
  pages = { ...honest };
});

const metadata = (more: object = {}) => ({
  issuer: url,
  authorization_endpoint: `${url}/authorize`,
  token_endpoint: `${url}/token`,
  registration_endpoint: `${url}/register`,
  code_challenge_methods_supported: ["S256"],
  ...more,
});
const RESOURCE = "/.well-known/oauth-protected-resource";
const SERVER = "/.well-known/oauth-authorization-server";
const honest: typeof pages = {
  [RESOURCE]: () => Response.json({ resource: url, authorization_servers: [url] }),
  [SERVER]: () => Response.json(metadata()),
};
const auth: PublicAuth = { mode: "workspace", type: "oauth2" };
const discover = (more: Partial<Parameters<typeof discoverAuthorization>[1]> = {}, fetch = createLoopbackFetch()) =>
  discoverAuthorization(fetch, { resourceUrl: `${url}/`, auth, ...more });
async function refusal(work: Promise<unknown>): Promise<{ code: string; detail: string }> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(AppError);
  return error as AppError;
}

describe("S14: discovery", () => {
  test("finds an honest server", async () => {
    expect(await discover()).toMatchObject({ issuer: url, tokenEndpoint: `${url}/token`, isDiscovered: true });
  });
  const elsewhere = [
    "file:///etc/passwd",
    "javascript:alert(1)",
    "http://internal.corp/x",
    "https://user:pass@id.example/x",
    "https://id.example/#x",
    "gopher://127.0.0.1/",
    "//evil",
  ];
  test.each(elsewhere)("does not follow %p, wherever it is named", async (place) => {
    expect(await refusal(discover({ wwwAuthenticate: `Bearer resource_metadata="${place}"` }))).toMatchObject({
      code: "oauth.unsupported",
    });
    expect(asked).toEqual([]);
    for (const field of ["authorization_endpoint", "token_endpoint", "registration_endpoint"]) {
      pages[SERVER] = () => Response.json(metadata({ [field]: place }));
      expect(await refusal(discover())).toMatchObject({ code: "oauth.unsupported" });
    }
    pages[RESOURCE] = () => Response.json({ resource: url, authorization_servers: [place] });
    expect(await refusal(discover())).toMatchObject({ code: "oauth.unsupported" });
    expect(await refusal(discover({ auth: { ...auth, issuer: place } }))).toMatchObject({ code: "oauth.unsupported" });
  });
  test("a source elsewhere does not lead to this machine", () => {
    for (const local of ["http://127.0.0.1:2375/", "http://localhost/", "http://[::1]/"])
      expect(() => checkOauthUrl(local, "token_endpoint", { allowLoopback: false })).toThrow("is this machine");
  });
  test("private and metadata addresses are refused by the guard, whatever says their name", async () => {
    const lookup = async () => [{ address: "10.0.0.5", family: 4 as const }];
    const guarded = createGuardedFetch({
      allowLoopback: true,
      allowPrivate: [],
      ownPorts: () => [],
      userAgent: "t",
      lookup,
    });
    for (const place of ["https://intranet.example/x", "https://169.254.169.254/x", "https://[fd00:ec2::254]/x"])
      expect(
        await refusal(discover({ wwwAuthenticate: `Bearer resource_metadata="${place}"` }, guarded)),
      ).toMatchObject({ code: "egress.refused" });
  });
  test("metadata that redirects to another origin does not speak for this one", async () => {
    pages[SERVER] = () => new Response(null, { status: 302, headers: { location: "http://localhost:1/x" } });
    expect(await refusal(discover())).toMatchObject({ code: "oauth.unsupported" });
  });
  test("metadata about another resource, of another issuer, or without PKCE is not believed", async () => {
    pages[RESOURCE] = () => Response.json({ resource: "https://bank.example", authorization_servers: [url] });
    expect((await refusal(discover())).detail).toContain("another resource");
    pages = { ...honest, [SERVER]: () => Response.json(metadata({ issuer: "https://accounts.example" })) };
    expect((await refusal(discover())).detail).toContain("another issuer");
    pages = { ...honest, [SERVER]: () => Response.json(metadata({ code_challenge_methods_supported: ["plain"] })) };
    expect((await refusal(discover())).detail).toContain("PKCE");
  });
  test("an endless or broken answer ends", async () => {
    pages[SERVER] = () =>
      new Response(new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(100_000)) }));
    expect(await refusal(discover())).toMatchObject({ code: "egress.too_large" });
    pages[SERVER] = () => new Response("[[[");
    expect(await refusal(discover())).toMatchObject({ code: "oauth.unsupported" });
  });
});

describe("D04: a flow", () => {
  const kept = {
    clientId: "kept",
    clientSecret: "canary-kept",
    authMethod: "client_secret_post" as const,
    redirectUri: "http://127.0.0.1/cb",
  };
  const start = (own: Partial<PublicAuth> = {}) =>
    startFlow(createLoopbackFetch(), {
      resourceUrl: `${url}/`,
      auth: { ...auth, ...own },
      identity: { manual: null, documentUrl: null, redirectUri: "http://127.0.0.1/cb" },
      clients: { find: async () => kept, keep: async () => undefined },
      now: 1_000,
    });
  test("a client's secret does not go to whoever claims to be its issuer", async () => {
    const claimed = {
      issuer: "https://accounts.example",
      authorizationUrl: `${url}/authorize`,
      tokenUrl: `${url}/token`,
    };
    expect(await refusal(start(claimed))).toMatchObject({ code: "oauth.unsupported" });
    expect((await start()).authorizationUrl).toContain("client_id=kept");
  });
  test("an answer of another issuer, or without one where it was promised, is refused before anything is sent", async () => {
    pages[SERVER] = () => Response.json(metadata({ authorization_response_iss_parameter_supported: true }));
    const { secretJson } = await start();
    asked.length = 0;
    for (const params of ["code=x", "code=x&iss=https://evil.example", "error=x&iss=https://evil.example"])
      expect(
        (await refusal(finishFlow(createLoopbackFetch(), new URLSearchParams(params), secretJson, 1_000))).detail,
      ).toContain("does not come from the provider");
    expect(asked).toEqual([]);
  });
  test("errors repeat neither code nor verifier nor secret, and a token endpoint that redirects gets nothing more", async () => {
    const { secretJson } = await start();
    const finish = () =>
      finishFlow(createLoopbackFetch(), new URLSearchParams({ code: "canary-code" }), secretJson, 1_000);
    pages["/token"] = async (request) =>
      Response.json({ error: "invalid_grant", error_description: `no: ${await request.text()}` }, { status: 400 });
    const refused = await refusal(finish());
    expect(refused.code).toBe("oauth.refused");
    expect(refused.detail).not.toContain("canary");
    expect(refused.detail).not.toContain((JSON.parse(secretJson) as { verifier: string }).verifier);
    pages["/token"] = () => new Response(null, { status: 307, headers: { location: `${url}/stolen` } });
    expect(await refusal(finish())).toMatchObject({ code: "egress.failed" });
    expect(asked).not.toContain("/stolen");
  });
  test("a refresh that is refused is final, one that fails may pass, and neither repeats the token", async () => {
    const secret = {
      accessToken: "a",
      refreshToken: "canary-refresh",
      tokenType: "Bearer",
      issuer: url,
      tokenEndpoint: `${url}/token`,
      clientId: "c",
      clientAuthMethod: "none",
    };
    const refresh = () => refreshTokens({ fetch: createLoopbackFetch(), secret, now: 1_000 });
    const table: [number, object, string][] = [
      [400, { error: "invalid_grant", error_description: "canary-refresh is spent" }, "oauth.refused"],
      [503, { error: "temporarily_unavailable" }, "egress.failed"],
      [429, { error: "slow_down" }, "egress.failed"],
      [200, { token_type: "Bearer" }, "oauth.refused"],
      [200, { access_token: "x", token_type: "mac" }, "oauth.refused"],
    ];
    for (const [status, body, code] of table) {
      pages["/token"] = () => Response.json(body, { status });
      const refused = await refusal(refresh());
      expect([status, refused.code]).toEqual([status, code]);
      expect(refused.detail).not.toContain("canary");
    }
  });
});
