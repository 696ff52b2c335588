/** What the environment says about Vercel, and what is made of it. */
import { expect, test } from "bun:test";
import { readVercelSettings } from "./read-vercel-settings.ts";
import { vercelAvailability } from "./vercel-sandbox-runtime.ts";

const oidc = (claims: object): string => `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`;
const good = oidc({ owner_id: "team_o", project_id: "prj_o", exp: 2_000 });

test("credentials are three values, or one OIDC token; anything less says what to set", () => {
  const three = { VERCEL_TOKEN: "t", VERCEL_TEAM_ID: "team", VERCEL_PROJECT_ID: "prj" };
  expect(readVercelSettings({ ...three, VERCEL_OIDC_TOKEN: good }).credentials).toEqual({
    token: "t",
    teamId: "team",
    projectId: "prj",
    expiresAt: null,
  });
  expect(readVercelSettings({ VERCEL_TOKEN: "t", VERCEL_OIDC_TOKEN: good }).credentials).toEqual({
    token: good,
    teamId: "team_o",
    projectId: "prj_o",
    expiresAt: 2_000_000,
  });
  expect(readVercelSettings({ VERCEL_TOKEN: "t" }).credentials).toContain("VERCEL_OIDC_TOKEN");
  for (const token of ["x", "a.b.c", oidc({}), oidc({ owner_id: "team" })])
    expect(readVercelSettings({ VERCEL_OIDC_TOKEN: token }).credentials).toContain("vercel link");
});

test("the rest has defaults, and what cannot be is refused by name", () => {
  expect(readVercelSettings({})).toMatchObject({
    runtime: "node22",
    image: null,
    graceMs: 15_000,
    apiUrl: "https://vercel.com/api",
    baseUrl: null,
  });
  const set = {
    EXECUTOR_VERCEL_SANDBOX_RUNTIME: "node24",
    EXECUTOR_VERCEL_SANDBOX_IMAGE: "vercel/sandbox/node:24",
    EXECUTOR_INTERNAL_BASE_URL: "https://executor.example/base/",
  };
  expect(readVercelSettings(set)).toMatchObject({
    runtime: "node24",
    image: "vercel/sandbox/node:24",
    baseUrl: "https://executor.example/base",
  });
  for (const [name, value] of [
    ["EXECUTOR_VERCEL_SANDBOX_RUNTIME", "python3.13"],
    ["EXECUTOR_INTERNAL_BASE_URL", "http://executor.example"],
    ["EXECUTOR_INTERNAL_BASE_URL", "https://u:p@executor.example"],
    ["EXECUTOR_INTERNAL_BASE_URL", "executor"],
    ["EXECUTOR_VERCEL_API_URL", "ftp://x"],
    ["EXECUTOR_VERCEL_SANDBOX_GRACE_MS", "1e9"],
  ] as const)
    expect(() => readVercelSettings({ [name]: value })).toThrow(name);
});

test("it is available with credentials that have not expired and a callback URL, and else says what is missing", () => {
  const host = { now: () => 1_000_000, monotonicMs: () => 0, newId: () => "run_x", sha256: () => "" };
  const state = (env: Record<string, string>, callback: { url: string } | { reason: string }) =>
    vercelAvailability({ settings: readVercelSettings(env), readCallback: () => callback, host });
  const url = { url: "https://executor.example" };
  expect(state({ VERCEL_OIDC_TOKEN: good }, url)).toEqual({ available: true });
  expect(state({}, url)).toMatchObject({ available: false, reason: expect.stringContaining("VERCEL_OIDC_TOKEN") });
  const old = oidc({ owner_id: "team_o", project_id: "prj_o", exp: 999 });
  expect(state({ VERCEL_OIDC_TOKEN: old }, url)).toMatchObject({ reason: expect.stringContaining("expired at 1970-") });
  expect(state({ VERCEL_OIDC_TOKEN: good }, { reason: "no URL" })).toEqual({ available: false, reason: "no URL" });
});
