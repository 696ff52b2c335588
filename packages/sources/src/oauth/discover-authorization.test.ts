/** Where a sign-in leads, and where it must not: real HTTP on loopback, through the guard of an installation. */
import { afterEach, describe, expect, test } from "bun:test";
import { AppError } from "@executor/contracts/error";
import type { PublicAuth } from "@executor/core/ports/source";
import { createLoopbackFetch } from "@executor/testkit/tools/loopback-fetch";
import { createGuardedFetch } from "../egress/create-guarded-fetch.ts";
import { discoverAuthorization, namesSignIn } from "./discover-authorization.ts";

const auth: PublicAuth = { mode: "workspace", type: "oauth2" };
const servers: Bun.Server<undefined>[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop(true);
});

/** Serves these documents, in which ORIGIN is where they stand; tells what was asked for. */
function serve(documents: Record<string, object>) {
  const asked: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const { pathname, origin } = new URL(request.url);
      asked.push(pathname);
      const found = documents[pathname];
      if (!found) return new Response("nothing here", { status: 404 });
      return new Response(JSON.stringify(found).replaceAll("ORIGIN", origin), {
        headers: { "content-type": "application/json" },
      });
    },
  });
  servers.push(server);
  return { origin: `http://127.0.0.1:${server.port}`, asked };
}

const issuer = (over: object = {}) => ({
  issuer: "ORIGIN",
  authorization_endpoint: "ORIGIN/authorize",
  token_endpoint: "ORIGIN/token",
  code_challenge_methods_supported: ["S256"],
  ...over,
});
const resource = (over: object = {}) => ({ resource: "ORIGIN/mcp", authorization_servers: ["ORIGIN"], ...over });
const WELL_KNOWN = "/.well-known/oauth-protected-resource";
const SERVER = "/.well-known/oauth-authorization-server";

const discover = (origin: string, more: object = {}) =>
  discoverAuthorization(createLoopbackFetch(), { resourceUrl: `${origin}/mcp`, auth, ...more });
const refusal = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "taken",
    (error: unknown) => (error instanceof AppError ? `${error.code}: ${error.detail}` : String(error)),
  );

describe("the resource's metadata", () => {
  test("is looked for where the challenge says, and nowhere else", async () => {
    const { origin, asked } = serve({ "/odd/place": resource({ scopes_supported: ["a", "b"] }), [SERVER]: issuer() });
    const found = await discover(origin, { wwwAuthenticate: `Bearer resource_metadata="${origin}/odd/place"` });
    expect(found).toMatchObject({ issuer: origin, resource: `${origin}/mcp`, scopes: ["a", "b"] });
    expect(asked).toEqual(["/odd/place", SERVER]);
  });

  test.each([`${WELL_KNOWN}/mcp`, WELL_KNOWN])("is found at %s when there is no challenge", async (place) => {
    const { origin } = serve({ [place]: resource(), [SERVER]: issuer() });
    expect(await discover(origin)).toMatchObject({ issuer: origin, resource: `${origin}/mcp` });
    expect(await namesSignIn(createLoopbackFetch(), `${origin}/mcp`)).toBe(true);
  });

  test("keeps a resource without a path as it was written", async () => {
    const { origin } = serve({ [WELL_KNOWN]: resource({ resource: "ORIGIN" }), [SERVER]: issuer() });
    expect((await discover(origin)).resource).toBe(origin);
  });

  test("about another resource is not believed", async () => {
    const { origin } = serve({ [WELL_KNOWN]: resource({ resource: "https://bank.example/mcp" }), [SERVER]: issuer() });
    expect(await refusal(discover(origin))).toContain("oauth.unsupported: The metadata of");
  });

  test.each([
    ["what a call turned out to need", { scopes: ["x"], wwwAuthenticate: 'Bearer scope="c"' }, ["x"]],
    ["the challenge", { wwwAuthenticate: 'Bearer scope="c d"' }, ["c", "d"]],
    ["the source's own setting", { auth: { ...auth, scopes: ["own"] } }, ["own"]],
    ["what the resource supports", {}, ["a"]],
  ])("scopes come from %s", async (_, request, scopes) => {
    const { origin } = serve({ [WELL_KNOWN]: resource({ scopes_supported: ["a"] }), [SERVER]: issuer() });
    expect((await discover(origin, request)).scopes).toEqual(scopes);
  });
});

describe("the authorization server's metadata", () => {
  const places = [
    "/.well-known/oauth-authorization-server/tenant",
    "/.well-known/openid-configuration/tenant",
    "/tenant/.well-known/openid-configuration",
  ];
  test.each(places)("of an issuer with a path is found at %s", async (place) => {
    const { origin } = serve({
      [WELL_KNOWN]: resource({ authorization_servers: ["ORIGIN/tenant"] }),
      [place]: issuer({ issuer: "ORIGIN/tenant" }),
    });
    expect((await discover(origin)).issuer).toBe(`${origin}/tenant`);
  });

  const refused: [what: string, over: object, says: string][] = [
    ["names another issuer", { issuer: "https://evil.example" }, "names another issuer"],
    ["has no PKCE", { code_challenge_methods_supported: ["plain"] }, "does not say that it supports PKCE"],
    ["sends people to a script", { authorization_endpoint: "javascript:alert(1)" }, "its scheme is javascript:"],
    ["has its tokens in a file", { token_endpoint: "file:///etc/passwd" }, "its scheme is file:"],
    ["has its tokens on plain http", { token_endpoint: "http://169.254.169.254/token" }, "is plain http"],
    ["puts a user into an address", { token_endpoint: "https://a:b@host.example/t" }, "a user name or password"],
  ];
  test.each(refused)("that %s is refused", async (_, over, says) => {
    const { origin } = serve({ [WELL_KNOWN]: resource(), [SERVER]: issuer(over) });
    expect(await refusal(discover(origin))).toContain(says);
  });
});

describe("addresses inside (S14)", () => {
  const inside = ["https://169.254.169.254/meta", "https://10.0.0.1/meta", "https://[::ffff:169.254.169.254]/meta"];
  test.each(inside)("a challenge that points to %s is refused by the guard", async (url) => {
    const { origin } = serve({});
    const found = refusal(discover(origin, { wwwAuthenticate: `Bearer resource_metadata="${url}"` }));
    expect(await found).toStartWith("egress.refused");
  });

  test("an issuer there is refused by the guard too", async () => {
    const { origin } = serve({ [WELL_KNOWN]: resource({ authorization_servers: ["https://169.254.169.254"] }) });
    expect(await refusal(discover(origin))).toStartWith("egress.refused");
  });

  test("a source elsewhere may not point at this machine", async () => {
    const { origin, asked } = serve({ "/meta": resource(), [SERVER]: issuer() });
    const found = discoverAuthorization(createLoopbackFetch(), {
      resourceUrl: "https://mcp.example/mcp",
      auth,
      wwwAuthenticate: `Bearer resource_metadata="${origin}/meta"`,
    });
    expect(await refusal(found)).toContain("is this machine, and the source is not");
    expect(asked).toEqual([]);
  });

  test("our own port is nobody's authorization server", async () => {
    const { origin, asked } = serve({ [SERVER]: issuer() });
    const ownPorts = () => [Number(new URL(origin).port)];
    const fetch = createGuardedFetch({ allowLoopback: true, allowPrivate: [], ownPorts, userAgent: "executor/test" });
    const other = serve({ [WELL_KNOWN]: resource({ authorization_servers: [origin] }) });
    const found = discoverAuthorization(fetch, { resourceUrl: `${other.origin}/mcp`, auth });
    expect(await refusal(found)).toStartWith("egress.refused");
    expect(asked).toEqual([]);
  });
});
