/**
 * D05: a secret in every slot there is, everything exercised against upstreams that repeat what they are sent and fail in every
 * way; then not one byte of any of them may be in the database, its log, the data directory, the output of any process, an event, a
 * result, an error, an answer of the API, or the arguments and environment of a child.
 * The exceptions are what a secret is for: the file `owner-key` holds the owner's own key; server and worker were given
 * EXECUTOR_TOOL_SOURCES, EXECUTOR_SECRET_… and WORKOS_API_KEY in their environment, the server's reader of sources the last two of
 * these, and a stdio server is given its variables.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { exchangeCode } from "@executor/client";
import { commandLine, processTree } from "@executor/testkit/installation/process-tree";
import { type Installation, startInstallation } from "@executor/testkit/installation/start-installation";
import { ask, type Person, personOf, signIn } from "./support/api.ts";
import { Canaries, filesBelow, ProcessWatch } from "./support/canaries.ts";
import { echoForms, type EchoServer, quickForms, startEchoServer } from "./support/echo-server.ts";
import { type FakeOauth, startFakeOauth } from "./support/fake-oauth.ts";
import { until } from "./support/until.ts";

const canaries = new Canaries();
const make = (slot: string, odd = false) => canaries.make(slot, odd);
const everything = join(
  dirname(Bun.resolveSync("@modelcontextprotocol/server-everything/package.json", import.meta.dir)),
  "dist/index.js",
);
/** Slots that some process was configured with through its environment. */
const envSlots = new Set<string>();
const inEnv = (slot: string, odd = false): string => {
  envSlots.add(slot);
  return make(slot, odd);
};

let echo: EchoServer;
let guarded: EchoServer;
let oauth: FakeOauth;
let workos: ReturnType<typeof Bun.serve>;
let installation: Installation;
let owner: Person;
let person: Person;
let watch: ProcessWatch;
/** What anybody was ever told by the API, apart from the moments in which a secret is handed to its owner. */
const told: string[] = [];

beforeAll(async () => {
  echo = startEchoServer();
  guarded = startEchoServer({ guardsDocument: true });
  oauth = startFakeOauth(canaries);
  const workosKey = inEnv("WorkOS key");
  const objects = new Map([["secret_named", make("WorkOS object", true)]]);
  workos = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      if (request.headers.get("authorization") !== `Bearer ${workosKey}`) return new Response(null, { status: 401 });
      const id = new URL(request.url).pathname.split("/")[4];
      if (request.method !== "POST") return Response.json({ value: objects.get(id ?? ""), metadata: { context: {} } });
      const { value, key_context: context } = (await request.json()) as { value: string; key_context: object };
      objects.set("secret_kept", value);
      return Response.json({ id: "secret_kept", context }, { status: 201 });
    },
  });
  const base = { type: "openapi", spec: `${echo.url}/openapi.json`, baseUrl: echo.url, defaultApproval: "auto" };
  const fixed = { mode: "static" };
  const sources = [
    { ...base, name: "env bearer", auth: { ...fixed, type: "bearer", token: inEnv("env bearer") } },
    { ...base, name: "env header", auth: { ...fixed, type: "apiKey", header: "X-Key", value: inEnv("env header") } },
    { ...base, name: "env query", auth: { ...fixed, type: "apiKey", query: "k", value: inEnv("env query", true) } },
    { ...base, name: "env cookie", auth: { ...fixed, type: "apiKey", cookie: "sid", value: inEnv("env cookie") } },
    {
      ...base,
      name: "env basic",
      auth: { ...fixed, type: "basic", username: "ann", password: inEnv("env basic", true) },
    },
    {
      ...base,
      name: "env guarded",
      spec: `${guarded.url}/openapi.json`,
      baseUrl: guarded.url,
      auth: { ...fixed, type: "bearer", token: inEnv("env guarded") },
    },
    {
      type: "mcp",
      name: "stdio",
      command: process.execPath,
      args: [everything, "stdio"],
      env: { API_TOKEN: inEnv("stdio variable", true) },
      defaultApproval: "auto",
    },
  ];
  installation = await startInstallation({
    env: {
      EXECUTOR_TOOL_SOURCES: JSON.stringify(sources),
      EXECUTOR_SECRET_CANARY: inEnv("env provider"),
      WORKOS_API_KEY: workosKey,
      WORKOS_API_URL: `http://127.0.0.1:${workos.port}`,
    },
  });
  const roots = () => [installation.server, ...installation.workers].map(({ pid }) => pid);
  watch = new ProcessWatch(() => {
    const ours = roots();
    const lines = new Set(ours.map(commandLine));
    // Between its fork and its exec a child still is its parent.
    const mayKnow = /server-everything|source-reader\/main/;
    const isOther = (pid: number) => !lines.has(commandLine(pid)) && !mayKnow.test(commandLine(pid));
    return ours.flatMap((root) => processTree(root).map((pid) => ({ pid, environment: isOther(pid) })));
  });
  const { token } = JSON.parse(readFileSync(join(installation.home, "owner-key"), "utf8")) as { token: string };
  canaries.add("owner key", token);
  const me = (await ask(installation.url, "GET /api/auth/me", { token })).body;
  owner = personOf(installation.url, token, me as never);
  person = await signIn(installation);
  canaries.add("session id", person.token);
}, 60_000);

afterAll(async () => {
  watch.stop();
  await installation.stop();
  await Promise.all([echo.stop(), guarded.stop(), oauth.stop(), workos.stop(true)]);
});

async function hear(who: Person, route: string, body?: unknown): Promise<Record<string, unknown>> {
  const answer = await who.ask(route, body === undefined ? {} : { body });
  told.push(`${route.split("?", 1)[0]} ${JSON.stringify(answer.body)} ${JSON.stringify([...answer.headers])}`);
  return answer.body;
}

/** Calls every form, writes all that comes back to the log, and ends as it is told. */
const program = (
  namespace: string,
  end: "return out" | "throw new Error(JSON.stringify(out))",
  account = "",
  forms = quickForms,
) => `
  const call = async (form, tool) => {
    try { return [form, await tools.${namespace}.echo[tool]({ form${account === "" ? "" : `, $account: ${JSON.stringify(account)}`} })]; }
    catch (e) { return [form, e.code, e.message, e.status, e.body, e.stack, String(e), JSON.stringify(e)]; }
  };
  const forms = ${JSON.stringify(forms)};
  const out = await Promise.all(["echo", "write"].flatMap((tool) => forms.map((form) => call(form, tool))));
  console.log(JSON.stringify(out)); console.error(out);
  ${end};`;

/** Runs it to its end, answering what it waits for, and reads all there is to read about it. */
async function run(
  who: Person,
  code: string,
  give: Record<string, unknown> = {},
  timeoutMs = 60_000,
): Promise<unknown> {
  const { workspaceId } = who;
  const { taskId } = (await hear(who, "POST /api/tasks", { workspaceId, code, timeoutMs })) as { taskId: string };
  const task = await until(
    "the end of a task",
    async () => {
      const now = (await who.ask(`GET /api/tasks/${taskId}?wait=1000`)).body as unknown as {
        status: string;
        pending: { interactionId: string; kind: string }[];
      };
      for (const { interactionId, kind } of now.pending) {
        await hear(who, `GET /api/interactions/${interactionId}`);
        if (kind === "approval")
          await hear(who, `POST /api/approvals/${interactionId}`, { workspaceId, decision: "approved" });
        else if (kind === "credential") {
          // A wrong answer first: its refusal must not repeat it.
          await hear(who, `POST /api/interactions/${interactionId}`, {
            workspaceId,
            answer: { wrong: give["token"], token: [give["token"]] },
          });
          await hear(who, `POST /api/interactions/${interactionId}`, { workspaceId, answer: give });
        } else await hear(who, `POST /api/interactions/${interactionId}`, { workspaceId, decline: true });
      }
      return /queued|running|waiting/.test(now.status) ? false : now;
    },
    timeoutMs,
  );
  told.push(JSON.stringify(task));
  await hear(who, `GET /api/tasks/${taskId}/calls?limit=200`);
  const events = await fetch(`${installation.url}/api/tasks/${taskId}/events`, {
    headers: { authorization: `Bearer ${who.token}` },
  });
  told.push(await events.text());
  return (task as { result?: unknown; error?: unknown }).result ?? (task as { error?: unknown }).error;
}

const read = async (who: Person, namespace: string): Promise<Record<string, unknown>> =>
  await until(`${namespace} to be read`, async () => {
    const { items } = (await who.ask("GET /api/tool-sources")).body as unknown as { items: Record<string, unknown>[] };
    return items.find((each) => each["namespace"] === namespace && each["health"] !== "indexing" && !each["progress"]);
  });

async function add(who: Person, name: string, more: object): Promise<void> {
  const source = {
    type: "openapi",
    name,
    spec: `${echo.url}/openapi.json`,
    baseUrl: echo.url,
    defaultApproval: "auto",
  };
  await hear(who, "POST /api/tool-sources", { workspaceId: who.workspaceId, ...source, ...more });
  await read(who, name);
}
const keep = (who: Person, sourceKey: string, secretJson: object, more: object = {}) =>
  hear(who, "POST /api/credentials", {
    workspaceId: who.workspaceId,
    sourceKey,
    scope: "workspace",
    secretJson,
    ...more,
  });

test("secrets of the environment's sources", async () => {
  for (const name of ["env_bearer", "env_header", "env_query", "env_cookie", "env_basic"]) {
    expect(await read(person, name)).toMatchObject({ health: "ok" });
    await run(
      person,
      program(name, name === "env_bearer" ? "throw new Error(JSON.stringify(out))" : "return out", "", echoForms),
    );
  }
  expect(await read(person, "env_guarded")).toMatchObject({ health: "ok", toolCount: 3 });
  await run(person, program("env_guarded", "return out"));
  await read(person, "stdio");
  const variables = await run(person, "return await tools.stdio.get_env({})");
  expect(JSON.stringify(variables)).toContain("API_TOKEN");
}, 60_000);

test("secrets of sources added over REST, of workspaces and actors, of each type and of several accounts", async () => {
  await add(person, "fixed", { auth: { mode: "static", type: "bearer", token: make("REST static") } });
  await run(person, program("fixed", "return out"));
  const places = { header: "X-Own-Key", query: "own", cookie: "own" };
  for (const mode of ["workspace", "actor"] as const) {
    for (const [place, name] of Object.entries(places)) {
      await add(person, `${mode}_${place}`, { auth: { mode, type: "apiKey", [place]: name } });
      await keep(person, `${mode}_${place}`, { value: make(`${mode} ${place}`) }, { scope: mode });
      await run(person, program(`${mode}_${place}`, "return out"));
    }
    await add(person, `${mode}_basic`, { auth: { mode, type: "basic" } });
    await keep(person, `${mode}_basic`, { username: "u", password: make(`${mode} basic`, true) }, { scope: mode });
    await run(person, program(`${mode}_basic`, "return out"));
  }
  await add(person, "accounts", { auth: { mode: "workspace", type: "bearer" } });
  for (const name of ["work", "home"]) {
    await keep(person, "accounts", { token: make(`account ${name}`) }, { name });
    await run(person, program("accounts", "return out", name));
  }
  await keep(person, "accounts", { token: make("replaced") }, { name: "work" });
  await keep(
    person,
    "accounts",
    {
      headers: { "X-Custom": make("custom header") },
      cookies: { c: make("custom cookie") },
      query: { q: make("custom query") },
    },
    { name: "custom" },
  );
  await run(person, program("accounts", "return out", "custom"));
  // Refused ones are secrets as well.
  await keep(person, "accounts", { token: `${make("refused")}\r\nX: y` });
  await keep(person, "nowhere", { token: make("for no source") });
  await keep(person, "accounts", { strange: make("strange field"), [make("strange name")]: 1 });
}, 120_000);

test("secrets that a person gives when asked, of the env provider, and of WorkOS Vault", async () => {
  await add(person, "asked", { auth: { mode: "actor", type: "bearer" } });
  await run(person, program("asked", "return out"), { token: make("given by a person") });
  await add(owner, "named", { auth: { mode: "workspace", type: "bearer" } });
  await keep(owner, "named", { variable: "EXECUTOR_SECRET_CANARY" }, { provider: "env" });
  await run(owner, program("named", "return out"));
  await keep(owner, "named", { objectId: "secret_named" }, { provider: "workos-vault" });
  await run(owner, program("named", "return out"));
  await keep(owner, "named", { token: make("kept at WorkOS") }, { provider: "workos-vault" });
  await run(owner, program("named", "return out"));
  // The same names are not for the admin of just any workspace.
  await add(person, "named", { auth: { mode: "workspace", type: "bearer" } });
  for (const [provider, secret] of [
    ["env", { variable: "EXECUTOR_SECRET_CANARY" }],
    ["workos-vault", { objectId: "secret_named" }],
  ] as const)
    expect(await keep(person, "named", secret, { provider })).toMatchObject({ code: "source.admin_only" });
}, 60_000);

test("secrets of sign-ins: client, code, state, verifier, tokens; refreshed, refused with an echo, renewed", async () => {
  const auth = { mode: "workspace", type: "oauth2", issuer: oauth.url };
  await add(person, "signed", { auth });
  await add(person, "manual", { auth: { ...auth, clientId: "mine", clientSecret: make("manual client secret") } });
  for (const sourceKey of ["signed", "manual"]) {
    const begin = async (code: string) => {
      const started = await person.ask("POST /api/oauth/connect", {
        body: { workspaceId: person.workspaceId, sourceKey },
      });
      const state = new URL(String(started.body["authorizationUrl"])).searchParams.get("state") ?? "";
      canaries.add(`state ${sourceKey} ${code}`, state);
      const back = `GET /oauth/callback?state=${state}&code=${code}`;
      await hear(person, back);
      await hear(person, back);
    };
    await begin("refused");
    await hear(person, `GET /oauth/callback?state=${make("unknown state")}&code=${make("unknown code")}`);
    await begin(make(`code ${sourceKey}`));
    await run(person, program(sourceKey, "return out"));
    await Bun.sleep(1_100);
    await run(person, program(sourceKey, "throw new Error(JSON.stringify(out))"));
  }
  oauth.refuses = true;
  await Bun.sleep(1_100);
  expect(JSON.stringify(await run(person, program("signed", "return out")))).toContain("denied");
  expect(oauth.requests.filter((each) => each.has("refresh_token")).length).toBeGreaterThan(2);
}, 60_000);

test("failures: documents that cannot be read, secrets in addresses, no answer in time, GraphQL, and MCP over HTTP", async () => {
  const fixed = (token: string) => ({ mode: "static", type: "apiKey", query: "k", value: token });
  await add(person, "broken", { spec: `${echo.url}/broken.json`, auth: fixed(make("broken document")) });
  await add(person, "failing", { spec: `${echo.url}/failing.json`, auth: fixed(make("failing document")) });
  await add(person, "graph", {
    type: "graphql",
    spec: undefined,
    url: `${echo.url}/graphql`,
    baseUrl: undefined,
    auth: fixed(make("graphql key")),
  });
  await add(person, "mcp", {
    type: "mcp",
    spec: undefined,
    url: `${echo.url}/mcp`,
    baseUrl: undefined,
    auth: { mode: "static", type: "bearer", token: make("mcp bearer") },
  });
  for (const name of ["broken", "failing", "graph", "mcp"])
    expect(await read(person, name)).toMatchObject({ health: "failing" });
  const inAddress = make("in an address");
  for (const more of [
    { spec: `https://u:${inAddress}@a.example/` },
    { spec: `${echo.url}/x?token=${inAddress}` },
    { headers: { "X-Token": inAddress } },
  ])
    expect(
      await hear(person, "POST /api/tool-sources", {
        workspaceId: person.workspaceId,
        type: "openapi",
        name: "leaky",
        ...more,
        ...(!("spec" in more) && { spec: echo.url }),
      }),
    ).toMatchObject({ code: "source.invalid" });
  await hear(person, "POST /api/tool-sources/probe", {
    workspaceId: person.workspaceId,
    url: `http://u:${inAddress}@127.0.0.1/`,
  });
  await run(person, "return await tools.fixed.echo.never({})", {}, 1_500).catch(() => undefined);
  // The program itself may have a name for what it may not see; what it writes is its own.
  await run(person, "return [typeof process, typeof Bun, Object.keys(globalThis).length, JSON.stringify(tools)]");
}, 60_000);

test("keys, invites and sessions; then everything is looked through", async () => {
  const key = await person.executor.keys.create({ role: "reviewer", label: "canary" });
  canaries.add("API key", key.token);
  await ask(installation.url, "GET /api/tasks", { token: key.token });
  const invite = await person.ask("POST /api/invites", { body: { workspaceId: person.workspaceId, role: "agent" } });
  canaries.add("invite code", String(invite.body["code"]));
  const joined = await exchangeCode({ baseUrl: installation.url, code: String(invite.body["code"]) });
  canaries.add("session of the invited", joined.sessionId);
  await hear(person, `DELETE /api/keys/${key.keyId}?workspaceId=${person.workspaceId}`);
  await installation.restart();
  for (const name of ["fixed", "workspace_basic", "env_basic"]) await run(person, program(name, "return out"));
  for (const who of [person, owner]) await readAll(who);

  // Or the rest would prove nothing: each was sent, or is one that never leaves.
  const sent = [...echo.got, ...guarded.got].join("\n");
  const neverSent =
    /refused|no source|strange|replaced|client secret|WorkOS key|refresh token|session|key$|invite|verifier|state|code|error|address|stdio|mcp|graphql|object/;
  for (const [slot, text] of canaries.slots)
    if (!neverSent.test(slot))
      expect([slot, sent.includes(text) || sent.includes(encodeURIComponent(text))]).toEqual([slot, true]);
  expect(canaries.slots.size).toBeGreaterThan(50);
  expect([...watch.seen.keys()].filter((what) => what.startsWith("environment")).length).toBeGreaterThan(0);

  const leaks: string[] = [];
  const look = (place: string, bytes: Buffer, except: string[] = []) =>
    leaks.push(...canaries.findIn(bytes, except).map((what) => `${place}: ${what}`));
  for (const [index, text] of told.entries()) look(`answer ${index} (${text.slice(0, 60)})`, Buffer.from(text));
  for (const path of filesBelow(installation.home))
    look(path, readFileSync(path), basename(path) === "owner-key" ? ["owner key"] : []);
  look("logs", Buffer.from(installation.logs));
  for (const [what, bytes] of watch.seen) look(what, bytes);
  expect(leaks).toEqual([]);
}, 90_000);

/** Every list, every thing in it, every stream. */
async function readAll(who: Person): Promise<void> {
  const { workspaceId } = who;
  for (const list of ["tasks", "approvals", "interactions", "credentials", "policies", "keys", "tool-sources", "tools"])
    await hear(who, `GET /api/${list}?${list === "tools" ? "limit=500" : `workspaceId=${workspaceId}`}`);
  const audit = await hear(who, `GET /api/audit?workspaceId=${workspaceId}&limit=200`);
  expect(audit["items"]).toBeDefined();
  for (const query of ["echo", "api token", "secret"])
    await hear(who, `GET /api/tools/search?query=${encodeURIComponent(query)}`);
  const { items } = (await who.ask("GET /api/tool-sources")).body as unknown as {
    items: { sourceId: string; namespace: string }[];
  };
  for (const { sourceId, namespace } of items) {
    for (const part of ["", "/document", "/changes"]) await hear(who, `GET /api/tool-sources/${sourceId}${part}`);
    await hear(who, `GET /api/tools/${namespace}.echo.echo`);
  }
  const stop = new AbortController();
  const stream = await fetch(`${installation.url}/api/events?workspaceId=${workspaceId}`, {
    headers: { authorization: `Bearer ${who.token}`, "last-event-id": "0" },
    signal: stop.signal,
  });
  setTimeout(() => stop.abort(), 1_500);
  const decoder = new TextDecoder();
  let events = "";
  try {
    for await (const chunk of stream.body ?? []) events += decoder.decode(chunk, { stream: true });
  } catch {
    // It has no end of its own.
  }
  expect(events.length).toBeGreaterThan(500);
  told.push(events);
}
