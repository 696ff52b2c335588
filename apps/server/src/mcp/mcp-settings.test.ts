import { expect, test } from "bun:test";
import { readMcpSettings } from "./mcp-settings.ts";

test("nothing is on unless it is set", () => {
  expect(readMcpSettings({})).toEqual({ requireAuth: false, callWaitMs: 45_000, oauth: null });
  expect(readMcpSettings({ MCP_GATEWAY_REQUIRE_AUTH: "1", MCP_CALL_WAIT_MS: "20000" })).toMatchObject({
    requireAuth: true,
    callWaitMs: 20_000,
  });
});

test("an authorization server is taken by either name, with where its tokens lead", () => {
  const oauth = {
    issuer: "https://id.example.com",
    audience: null,
    workspaces: { "*": "local" },
    elicitClients: ["a", "b"],
  };
  for (const name of ["MCP_AUTHORIZATION_SERVER", "MCP_AUTHORIZATION_SERVER_URL"])
    expect(
      readMcpSettings({ [name]: oauth.issuer, MCP_OAUTH_WORKSPACES: '{"*":"local"}', MCP_OAUTH_ELICIT_CLIENTS: "a, b" })
        .oauth,
    ).toEqual(oauth);
});

test("what cannot be is refused by name: no mapping, plain http, nonsense", () => {
  const server = { MCP_AUTHORIZATION_SERVER: "https://id.example.com" };
  for (const map of [undefined, "{}", "[]", "local", '{"team":"ws_1"}'])
    expect(() => readMcpSettings({ ...server, MCP_OAUTH_WORKSPACES: map })).toThrow(/MCP_OAUTH_WORKSPACES/);
  const mapped = { MCP_OAUTH_WORKSPACES: '{"*":"local"}' };
  for (const issuer of ["http://id.example.com", "id.example.com", "file:///etc"])
    expect(() => readMcpSettings({ MCP_AUTHORIZATION_SERVER: issuer, ...mapped })).toThrow(/MCP_AUTHORIZATION_SERVER/);
  expect(readMcpSettings({ MCP_AUTHORIZATION_SERVER: "http://127.0.0.1:4000", ...mapped }).oauth?.issuer).toBe(
    "http://127.0.0.1:4000",
  );
  expect(() => readMcpSettings({ MCP_GATEWAY_REQUIRE_AUTH: "maybe" })).toThrow(/MCP_GATEWAY_REQUIRE_AUTH/);
  expect(() => readMcpSettings({ MCP_CALL_WAIT_MS: "soon" })).toThrow(/MCP_CALL_WAIT_MS/);
});
