/** Sign-in with a real authorization server: connect, call, expiry, one refresh for many, the end of a sign-in and the next one. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Installation, startInstallation } from "@executor/testkit/installation/start-installation";
import { type Person, signIn } from "./support/api.ts";
import { Canaries } from "./support/canaries.ts";
import { startFakeOauth } from "./support/fake-oauth.ts";
import { type OauthWorld, startOauthWorld } from "./support/oauth-provider.ts";
import { until } from "./support/until.ts";

let installation: Installation;
let world: OauthWorld;
beforeAll(async () => {
  world = await startOauthWorld({ tokenSeconds: 2 });
  installation = await startInstallation({ workers: 2 });
});
afterAll(async () => {
  await installation.stop();
  await world.stop();
});

test("a task waits for a sign-in, calls with it, refreshes once for many, and asks again when the sign-in has died", async () => {
  const { executor } = await signIn(installation);
  const definition = {
    type: "openapi",
    name: "Pets",
    spec: `${world.apiUrl}/openapi.json`,
    baseUrl: world.apiUrl,
  } as const;
  const added = await executor.sources.add({ ...definition, auth: { mode: "workspace", type: "oauth2" } });
  expect(await executor.sources.waitUntilRead(added.sourceId)).toMatchObject({ health: "ok" });

  const connect = async (interactionId: string) => {
    const { authorizationUrl } = await executor.credentials.connect({ sourceKey: "pets", interactionId });
    const page = await world.signIn(authorizationUrl);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("Connected")]);
    return authorizationUrl;
  };
  const asked: string[] = [];
  const run = (code: string) =>
    executor.tasks.run(code, {
      timeoutMs: 20_000,
      onWaiting: async (task) => {
        for (const { kind, title, interactionId } of task.pending) {
          expect(kind).toBe("oauth");
          asked.push(title);
          await connect(interactionId);
        }
      },
    });

  expect(await run("return await tools.pets.pets.list_pets()")).toEqual([{ id: 1, name: "Rex" }]);
  expect(asked).toEqual(["Credential for Pets"]);
  expect(await executor.credentials.list()).toMatchObject({
    items: [{ kind: "oauth2", status: "ok", hasSecret: true }],
  });

  await Bun.sleep(2_100);
  const many = `return (await Promise.all(Array.from({ length: 20 }, () => tools.pets.pets.list_pets()))).length`;
  expect(await Promise.all([run(many), run(many)])).toEqual([20, 20]);
  expect(world.refreshes).toHaveLength(1);
  expect(world.calls.every(({ authorized }) => authorized)).toBe(true);

  await world.revokeAll();
  await Bun.sleep(2_100);
  expect(await run("return (await tools.pets.pets.list_pets()).length")).toBe(1);
  expect(asked).toEqual(["Credential for Pets", "Reconnect Pets"]);

  const secrets = [...world.calls.map(({ token }) => token), ...world.refreshes];
  const places = ["executor.db", "executor.db-wal"].map((name) =>
    readFileSync(join(installation.home, name)).toString("latin1"),
  );
  for (const place of [...places, installation.logs])
    for (const secret of secrets) expect(place.includes(secret)).toBe(false);
}, 60_000);

test("a callback counts once, and only for the one who began it", async () => {
  const { executor, workspaceId } = await signIn(installation);
  const added = await executor.sources.add({
    type: "openapi",
    name: "Pets",
    spec: `${world.apiUrl}/openapi.json`,
    baseUrl: world.apiUrl,
    auth: { mode: "workspace", type: "oauth2" },
  });
  await executor.sources.waitUntilRead(added.sourceId);
  const { authorizationUrl } = await executor.credentials.connect({ sourceKey: "pets" });
  expect(new URL(authorizationUrl).searchParams.get("code_challenge_method")).toBe("S256");
  const state = new URL(authorizationUrl).searchParams.get("state") ?? "";
  const back = (query: string) => fetch(`${installation.url}/oauth/callback?${query}`);
  const mixedUp = await back(`state=${state}&code=x&iss=https%3A%2F%2Fevil.example`);
  expect([mixedUp.status, await mixedUp.text()]).toEqual([
    400,
    expect.stringContaining("does not come from the provider"),
  ]);
  const again = await back(`state=${state}&code=x&iss=${encodeURIComponent(world.issuer)}`);
  expect([again.status, await again.text()]).toEqual([400, expect.stringContaining("unknown, was used already")]);
  const unknown = await back("state=nothing&code=<script>alert(1)</script>");
  expect(await unknown.text()).not.toContain("<script>");
  const agent = await executor.keys.create({ role: "agent", label: "a" });
  const refused = await fetch(`${installation.url}/api/oauth/connect`, {
    method: "POST",
    headers: { authorization: `Bearer ${agent.token}`, "content-type": "application/json" },
    body: JSON.stringify({ workspaceId, sourceKey: "pets" }),
  });
  expect(refused.status).toBe(403);
  await until("no credential", async () => (await executor.credentials.list()).items.length === 0);
});

test("D04: where people share an installation, a sign-in counts for the one who began it only", async () => {
  const provider = startFakeOauth(new Canaries());
  const shared = await startInstallation({ workers: 0, env: { EXECUTOR_PUBLIC_URL: "http://executor.example" } });
  try {
    const [attacker, victim] = [await signIn(shared), await signIn(shared)];
    const auth = { mode: "workspace", type: "oauth2", issuer: provider.url } as const;
    const spec = `${world.apiUrl}/openapi.json`;
    await attacker.executor.sources.add({ type: "openapi", name: "Pets", spec, baseUrl: world.apiUrl, auth });
    const begin = async (): Promise<string> => {
      const { authorizationUrl } = await attacker.executor.credentials.connect({ sourceKey: "pets" });
      return `?code=x&state=${new URL(authorizationUrl).searchParams.get("state") ?? ""}`;
    };
    const finish = ({ ask, workspaceId }: Person, query: string) =>
      ask("POST /api/oauth/finish", { body: { workspaceId, query } });
    // The attacker's link in the victim's browser: the page alone ends nothing.
    const query = await begin();
    const page = await fetch(`${shared.url}/oauth/callback${query}`);
    expect([page.status, provider.requests.length]).toEqual([200, 0]);
    expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
    expect(await page.text()).not.toContain(query.slice(-10));
    expect((await fetch(`${shared.url}/oauth-callback.js`)).headers.get("content-type")).toContain("javascript");
    expect(await finish(victim, query)).toMatchObject({ body: { code: "oauth.refused" } });
    // And nobody may end it after that.
    expect(await finish(attacker, query)).toMatchObject({ body: { code: "oauth.refused" } });
    expect(provider.requests).toEqual([]);
    expect(await finish(attacker, await begin())).toMatchObject({ status: 200, body: { connected: true } });
    expect((await attacker.executor.credentials.list()).items).toHaveLength(1);
    expect((await victim.executor.credentials.list()).items).toEqual([]);
  } finally {
    await shared.stop();
    await provider.stop();
  }
}, 30_000);
