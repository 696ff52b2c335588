/** When a Funnel is opened by itself. */
import { expect, test } from "bun:test";
import { readCallbackEnv } from "./read-callback-env.ts";

const credentials = { VERCEL_TOKEN: "t", VERCEL_TEAM_ID: "team", VERCEL_PROJECT_ID: "prj" };
const local = { isLoopback: true, publicUrl: null };

test.each([
  ["in development with credentials", credentials, local, true],
  ["without credentials", {}, local, false],
  ["in production", { ...credentials, NODE_ENV: "production" }, local, false],
  ["on another bind", credentials, { isLoopback: false, publicUrl: null }, false],
  ["behind a public URL", credentials, { isLoopback: true, publicUrl: "https://x.example" }, false],
  ["with a callback URL", { ...credentials, EXECUTOR_INTERNAL_BASE_URL: "https://x.example" }, local, false],
  ["switched off", { ...credentials, EXECUTOR_AUTO_TAILSCALE_FUNNEL: "0" }, local, false],
  ["switched on", { ...credentials, NODE_ENV: "production", EXECUTOR_AUTO_TAILSCALE_FUNNEL: "1" }, local, true],
  ["switched on without credentials", { EXECUTOR_AUTO_TAILSCALE_FUNNEL: "1" }, local, false],
])("%s", (_, env, server, funnel) => {
  expect(readCallbackEnv(env, server).funnel).toBe(funnel);
});

test("a value that is neither is refused, and a shared token is noticed", () => {
  expect(() => readCallbackEnv({ EXECUTOR_AUTO_TAILSCALE_FUNNEL: "maybe" }, local)).toThrow(
    "EXECUTOR_AUTO_TAILSCALE_FUNNEL",
  );
  expect(readCallbackEnv({ EXECUTOR_INTERNAL_TOKEN: "x" }, local).hasInternalToken).toBe(true);
});
