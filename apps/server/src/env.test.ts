import { expect, test } from "bun:test";
import { readServerEnv } from "./env.ts";

const read = (env: Record<string, string>) => readServerEnv(env, "linux", "/home/ann").server;

test("by default it listens on loopback only and gives anonymous sessions there", () => {
  expect(read({})).toEqual({
    host: "127.0.0.1",
    port: 8_788,
    isLoopback: true,
    publicUrl: null,
    oauthClientUrl: null,
    allowedHosts: [],
    anonymous: true,
    autoExecute: false,
    parentPid: null,
    mcp: { requireAuth: false, callWaitMs: 45_000, oauth: null },
    toolSources: [],
  });
});

test("on any other bind anonymous sessions are off unless asked for (S04)", () => {
  for (const host of ["0.0.0.0", "::", "192.168.1.5", "box.lan"]) {
    expect(read({ EXECUTOR_HOST: host }).anonymous).toBe(false);
    expect(read({ EXECUTOR_HOST: host, EXECUTOR_ANONYMOUS: "1" }).anonymous).toBe(true);
  }
  for (const host of ["127.0.0.1", "127.8.8.8", "localhost", "::1"])
    expect(read({ EXECUTOR_HOST: host }).isLoopback).toBe(true);
  expect(read({ EXECUTOR_ANONYMOUS: "0" }).anonymous).toBe(false);
});

test("lists and URLs are read", () => {
  expect(
    read({
      EXECUTOR_ALLOWED_HOSTS: "Box.lan, b:99,",
      EXECUTOR_PUBLIC_URL: "https://x.example.com/",
      EXECUTOR_OAUTH_CLIENT_URL: "https://x.example.com/client.json",
      EXECUTOR_PORT: "0",
      EXECUTOR_PARENT_PID: "7",
    }),
  ).toMatchObject({
    allowedHosts: ["box.lan", "b:99"],
    publicUrl: "https://x.example.com",
    oauthClientUrl: "https://x.example.com/client.json",
    port: 0,
    parentPid: 7,
  });
});

test("what cannot be is refused with a message that names the variable", () => {
  const bad = {
    EXECUTOR_PORT: ["x", "-1", "65536", "1.5"],
    EXECUTOR_OAUTH_CLIENT_URL: ["http://a/doc.json", "https://a", "https://u@a/doc.json"],
    EXECUTOR_PUBLIC_URL: ["x", "ftp://a", "https://u:p@a", "https://a?b"],
    EXECUTOR_ALLOWED_HOSTS: ["a b", "http://a"],
    EXECUTOR_ANONYMOUS: ["yes"],
    EXECUTOR_HOST: ["a b"],
    EXECUTOR_LIMIT_RUN_MS: ["1"],
  };
  for (const [name, values] of Object.entries(bad))
    for (const value of values) expect(() => read({ [name]: value })).toThrow(name);
});
