import { expect, test } from "bun:test";
import { readGatewayEnv } from "./gateway-env.ts";

const read = (env: Record<string, string> = {}) => readGatewayEnv(env, "linux", "/home/ann");

test("it listens on 5313, and people decide at the server", () => {
  const { server, consoleBase } = read();
  expect([server.host, server.port, server.publicUrl, consoleBase]).toEqual([
    "127.0.0.1",
    5_313,
    null,
    "http://127.0.0.1:8788",
  ]);
  expect(server.mcp.requireAuth).toBe(false);
});

test("an installation that is reached from outside lets nobody in without a bearer here either", () => {
  const { server, consoleBase } = read({ EXECUTOR_PUBLIC_URL: "https://executor.example.com/" });
  expect([consoleBase, server.publicUrl, server.mcp.requireAuth]).toEqual(["https://executor.example.com", null, true]);
  const own = read({ EXECUTOR_GATEWAY_PUBLIC_URL: "https://mcp.example.com/", EXECUTOR_GATEWAY_PORT: "4313" }).server;
  expect([own.publicUrl, own.port]).toEqual(["https://mcp.example.com", 4_313]);
});

test("what cannot be is refused by name", () => {
  expect(() => read({ EXECUTOR_GATEWAY_PORT: "99999" })).toThrow(/EXECUTOR_GATEWAY_PORT/);
  expect(() => read({ EXECUTOR_GATEWAY_PUBLIC_URL: "mcp.example.com" })).toThrow(/EXECUTOR_GATEWAY_PUBLIC_URL/);
});
