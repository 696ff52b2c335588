/** Tokens of a real authorization server at our `/mcp`: how a client finds it, who it becomes, and every token that must not get in. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { type Installation, startInstallation } from "@executor/testkit/installation/start-installation";
import { ask } from "./support/api.ts";
import { connectMcp } from "./support/mcp-client.ts";
import { until } from "./support/until.ts";
import { type OpenapiServer, startOpenapiServer } from "@executor/testkit/tools/openapi-server";
import { startTokenIssuer, type TokenIssuer } from "./support/token-issuer.ts";

let issuer: TokenIssuer;
let upstream: OpenapiServer;
let installation: Installation;
let resource: string;
beforeAll(async () => {
  issuer = await startTokenIssuer();
  upstream = startOpenapiServer();
  const source = { type: "openapi", name: "Pets", spec: `${upstream.url}/openapi.json`, baseUrl: upstream.url };
  installation = await startInstallation({
    env: {
      EXECUTOR_TOOL_SOURCES: JSON.stringify([source]),
      MCP_AUTHORIZATION_SERVER: issuer.issuer,
      MCP_OAUTH_WORKSPACES: '{"team=blue":"ws_blue","*":"local"}',
    },
  });
  resource = `${installation.url}/mcp`;
}, 30_000);
afterAll(async () => {
  await installation.stop();
  await upstream.stop();
  await issuer.stop();
});

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } },
};
const knock = (token?: string, url = installation.url) =>
  ask(url, "POST /mcp", { body: initialize, token, headers: { accept: "application/json, text/event-stream" } });
const owner = () =>
  JSON.parse(readFileSync(join(installation.home, "owner-key"), "utf8")) as { token: string; workspaceId: string };
const claims = (more: JWTPayload = {}): JWTPayload => {
  const now = Math.floor(Date.now() / 1_000);
  return {
    iss: issuer.issuer,
    aud: resource,
    sub: "ann",
    scope: "executor:agent",
    client_id: "cli",
    iat: now,
    exp: now + 60,
    ...more,
  };
};

test("a client is told where to get a token, and finds the way from there", async () => {
  const refused = await knock();
  expect(refused.status).toBe(401);
  const challenge = refused.headers.get("www-authenticate") ?? "";
  const [, url = ""] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
  expect(url).toBe(`${installation.url}/.well-known/oauth-protected-resource/mcp`);
  const document = (await (await fetch(url)).json()) as Record<string, unknown>;
  expect(document).toMatchObject({ resource, authorization_servers: [issuer.issuer] });
  expect(document["scopes_supported"]).toEqual(["executor:agent", "executor:reviewer", "executor:admin"]);
  expect((await ask(installation.url, "GET /.well-known/oauth-protected-resource")).body["resource"]).toBe(resource);
  const server = await ask(installation.url, "GET /.well-known/oauth-authorization-server");
  expect([server.status, server.body["issuer"], typeof server.body["token_endpoint"]]).toEqual([
    200,
    issuer.issuer,
    "string",
  ]);
});

test("with a token of the provider a client runs code, as an actor of its own in the configured workspace", async () => {
  const token = await issuer.grant(resource, "executor:agent");
  const client = await connectMcp({ url: installation.url, token });
  const { data } = await client.call("execute", { code: "return 40 + 2" });
  expect(data).toMatchObject({ status: "completed", result: 42 });
  await client.close();
  const { token: ownerToken, workspaceId } = owner();
  const task = await ask(installation.url, `GET /api/tasks/${data.taskId}`, { token: ownerToken });
  expect(task.body["workspaceId"]).toBe(workspaceId);
  expect(task.body["actorId"]).toStartWith("actor_oauth_");
  // The same subject of the same issuer is the same actor; it is not the token that is remembered.
  const again = await connectMcp({ url: installation.url, token: await issuer.grant(resource, "executor:admin") });
  const second = await again.call("execute", { code: "return 1" });
  await again.close();
  expect(
    (await ask(installation.url, `GET /api/tasks/${second.data.taskId}`, { token: ownerToken })).body["actorId"],
  ).toBe(task.body["actorId"]);
  for (const each of [token, "s3cret-of-the-agent"]) expect(installation.logs).not.toContain(each);
}, 20_000);

test("such a token opens nothing but /mcp, whatever its scopes", async () => {
  const token = await issuer.grant(resource, "executor:agent executor:reviewer executor:admin");
  expect((await knock(token)).status).toBe(200);
  for (const route of ["GET /api/tasks", "GET /api/keys", "GET /api/approvals"])
    expect([route, (await ask(installation.url, route, { token })).status]).toEqual([route, 401]);
});

test("it is never passed on: what a tool sends upstream carries nothing of it", async () => {
  const token = await issuer.grant(resource, "executor:agent");
  const client = await connectMcp({ url: installation.url, token });
  const { data } = await until("the source", async () => {
    const answer = await client.call("execute", { code: "return await tools.pets.pets.list_pets()" });
    return answer.isError ? false : answer;
  });
  await client.close();
  expect(data.status).toBe("completed");
  const sent = upstream.seen.filter(({ path }) => path === "/pets");
  expect(sent.length).toBeGreaterThan(0);
  for (const request of sent) {
    expect(request.headers["authorization"]).toBeUndefined();
    expect(JSON.stringify(request)).not.toContain(token.split(".")[2] ?? token);
  }
}, 20_000);

test("our own keys go on working beside it", async () => {
  expect((await knock(owner().token)).status).toBe(200);
});

describe("tokens that must not get in", () => {
  const now = () => Math.floor(Date.now() / 1_000);
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const cases: [string, () => Promise<string>][] = [
    ["for another resource", () => issuer.mint(claims({ aud: "https://other.example.com/mcp" }))],
    ["for the server, not the endpoint", () => issuer.mint(claims({ aud: installation.url }))],
    ["for nobody", () => issuer.mint(claims({ aud: undefined }))],
    ["of another issuer", () => issuer.mint(claims({ iss: "https://evil.example.com" }))],
    ["of an issuer that differs by a slash", () => issuer.mint(claims({ iss: `${issuer.issuer}/` }))],
    ["not signed", async () => `${encode({ alg: "none" })}.${encode(claims())}.`],
    [
      "signed with the public key as if it were a shared secret",
      () =>
        new SignJWT(claims())
          .setProtectedHeader({ alg: "HS256", kid: issuer.kid })
          .sign(new TextEncoder().encode(issuer.publicPem)),
    ],
    ["expired", () => issuer.mint(claims({ iat: now() - 600, exp: now() - 120 }))],
    ["not valid yet", () => issuer.mint(claims({ nbf: now() + 600 }))],
    ["without an end", () => issuer.mint(claims({ exp: undefined }))],
    ["without a subject", () => issuer.mint(claims({ sub: undefined }))],
    [
      "signed by another key under the known name",
      async () => issuer.mint(claims(), { key: (await generateKeyPair("RS256")).privateKey }),
    ],
    [
      "signed by a key nobody published",
      async () => issuer.mint(claims(), { key: (await generateKeyPair("RS256")).privateKey, kid: "key-2" }),
    ],
    [
      "changed after it was signed",
      async () => {
        const [header, , signature] = (await issuer.mint(claims())).split(".");
        return `${header}.${encode(claims({ sub: "root" }))}.${signature}`;
      },
    ],
    ["without its signature", async () => `${(await issuer.mint(claims())).split(".").slice(0, 2).join(".")}.`],
    ["opaque", async () => "an-opaque-token-of-some-other-server"],
    ["far too long", () => issuer.mint(claims({ filler: "x".repeat(9_000) }))],
  ];
  test.each(cases)("%s", async (_name, make) => {
    const { status, headers, body } = await knock(await make());
    expect([status, (body["error"] as { code: number }).code]).toEqual([401, -32_000]);
    expect(headers.get("www-authenticate")).toContain('error="invalid_token"');
    expect(headers.get("www-authenticate")).toContain("resource_metadata=");
  });

  test("a good one gets in: the cases above fail for their own reason", async () => {
    expect((await knock(await issuer.mint(claims()))).status).toBe(200);
  });

  test("without a scope of ours, and for no workspace that is known here", async () => {
    const { status, headers } = await knock(await issuer.mint(claims({ scope: "openid profile" })));
    expect([status, headers.get("www-authenticate")]).toEqual([403, expect.stringContaining("insufficient_scope")]);
    const strict = await startInstallation({
      workers: 0,
      env: { MCP_AUTHORIZATION_SERVER_URL: issuer.issuer, MCP_OAUTH_WORKSPACES: '{"team=blue":"local"}' },
    });
    const aud = `${strict.url}/mcp`;
    expect((await knock(await issuer.mint(claims({ aud })), strict.url)).status).toBe(403);
    expect((await knock(await issuer.mint(claims({ aud, team: "blue" })), strict.url)).status).toBe(200);
    expect((await knock(await issuer.mint(claims({ aud, team: ["red", "blue"] })), strict.url)).status).toBe(200);
    await strict.stop();
  }, 20_000);
});

test("keys that cannot be read are no fault of the token: 503, and it gets in as soon as they can", async () => {
  const pair = await generateKeyPair("ES256");
  const keys = [{ ...(await exportJWK(pair.publicKey)), kid: "a", alg: "ES256", use: "sig" }];
  let answer = (): Response => new Response("down", { status: 500 });
  let own = "";
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }): Response =>
      url.endsWith("/jwks") ? answer() : Response.json({ issuer: own, jwks_uri: `${own}/jwks` }),
  });
  own = `http://127.0.0.1:${server.port}`;
  const shaky = await startInstallation({
    workers: 0,
    env: { MCP_AUTHORIZATION_SERVER: own, MCP_OAUTH_WORKSPACES: '{"*":"local"}' },
  });
  const token = await issuer.mint(claims({ iss: own, aud: `${shaky.url}/mcp` }), {
    key: pair.privateKey,
    kid: "a",
    alg: "ES256",
  });
  const answers: [number, () => Response][] = [
    [503, answer],
    [503, () => new Response("<html>maintenance</html>")],
    [503, () => Response.json({ error: "try later" })],
    [200, () => Response.json({ keys })],
  ];
  for (const [status, say] of answers) {
    answer = say;
    expect((await knock(token, shaky.url)).status).toBe(status);
  }
  await server.stop(true);
  await shaky.stop();
}, 20_000);

test("keys are read anew when the server changes them, and an unreachable server is said so", async () => {
  const [first, second] = [await generateKeyPair("ES256"), await generateKeyPair("ES256")];
  const publish = async (pair: typeof first, kid: string) => ({
    ...(await exportJWK(pair.publicKey)),
    kid,
    alg: "ES256",
    use: "sig",
  });
  let keys = [await publish(first, "a")];
  let own = "";
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }): Response =>
      Response.json(url.endsWith("/jwks") ? { keys } : { issuer: own, jwks_uri: `${own}/jwks` }),
  });
  own = `http://127.0.0.1:${server.port}`;
  const rotating = await startInstallation({
    workers: 0,
    env: { MCP_AUTHORIZATION_SERVER: own, MCP_OAUTH_WORKSPACES: '{"*":"local"}' },
  });
  const mint = (key: CryptoKey, kid: string) =>
    issuer.mint(claims({ iss: own, aud: `${rotating.url}/mcp` }), { key, kid, alg: "ES256" });
  const status = async (key: CryptoKey, kid: string) => (await knock(await mint(key, kid), rotating.url)).status;
  expect(await status(first.privateKey, "a")).toBe(200);
  expect(await status(second.privateKey, "b")).toBe(401);
  keys = [await publish(second, "b")];
  // Asked for again only after a while, so that made-up key names cost the server nothing.
  await Bun.sleep(5_200);
  expect(await status(second.privateKey, "b")).toBe(200);
  await server.stop(true);
  expect(await status(second.privateKey, "b")).toBe(200);
  await rotating.stop();
  const lost = await startInstallation({
    workers: 0,
    env: { MCP_AUTHORIZATION_SERVER: own, MCP_OAUTH_WORKSPACES: '{"*":"local"}' },
  });
  expect((await knock(await issuer.mint(claims({ iss: own, aud: `${lost.url}/mcp` })), lost.url)).status).toBe(503);
  await lost.stop();
}, 40_000);
