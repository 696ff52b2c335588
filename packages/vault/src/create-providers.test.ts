/** The providers that keep no secret of ours: the environment, and WorkOS Vault on a loopback stand-in. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { AppError, type ErrorCode } from "@executor/contracts/error";
import type { GuardedFetch } from "@executor/core/ports/source";
import type { SecretBinding } from "@executor/core/ports/vault";
import { createProviders, readVaultSettings } from "./create-providers.ts";
import { createEnvProvider } from "./env-provider.ts";
import { createWorkosVaultProvider } from "./workos-vault-provider.ts";

const binding: SecretBinding = {
  workspaceId: "ws_1",
  sourceKey: "github",
  scope: "workspace",
  actorId: "",
  name: "default",
  version: 1,
};
async function refusal(promise: Promise<unknown>, code: ErrorCode): Promise<AppError> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(AppError);
  expect((error as AppError).code).toBe(code);
  expect(String(error) + JSON.stringify(error)).not.toContain("canary");
  return error as AppError;
}

test("there is a provider for each place that is set up", () => {
  const make = (environment: Record<string, string>) =>
    createProviders({
      home: "/nowhere",
      settings: readVaultSettings(environment),
      environment,
      store: {} as never,
      fetch: (() => undefined) as never,
      now: Date.now,
      warn: () => undefined,
    });
  expect([...make({}).providers.keys()]).toEqual(["managed", "env"]);
  expect([...make({ WORKOS_API_KEY: "sk" }).providers.keys()]).toEqual(["managed", "env", "workos-vault"]);
});

describe("env", () => {
  const provider = createEnvProvider({
    EXECUTOR_SECRET_PLAIN: "canary-plain",
    EXECUTOR_SECRET_JSON: `{"username":"u","password":"canary-p"}`,
    EXECUTOR_SECRET_LIST: "[1]",
    EXECUTOR_SECRET_EMPTY: "",
    EXECUTOR_SECRETS_KEY: "canary-key",
    PATH: "canary-path",
  });
  const keep = (secret: object) => provider.keep(binding, JSON.stringify(secret));

  test("the row holds a name; the value is an object, or one text under both names", async () => {
    expect(await keep({ variable: "EXECUTOR_SECRET_PLAIN" })).toBe("EXECUTOR_SECRET_PLAIN");
    const plain = await provider.reveal(binding, "EXECUTOR_SECRET_PLAIN");
    expect(JSON.parse(plain)).toEqual({ token: "canary-plain", value: "canary-plain" });
    const object = await provider.reveal(binding, "EXECUTOR_SECRET_JSON");
    expect(JSON.parse(object)).toEqual({ username: "u", password: "canary-p" });
    expect(JSON.parse(await provider.reveal(binding, "EXECUTOR_SECRET_LIST"))).toEqual({ token: "[1]", value: "[1]" });
  });

  test("other names cannot be kept nor read, our own key among them", async () => {
    for (const name of [
      "PATH",
      "EXECUTOR_SECRETS_KEY",
      "EXECUTOR_SECRET_",
      "executor_secret_plain",
      "__proto__",
      "EXECUTOR_SECRET_PLAIN\n",
    ]) {
      await refusal(keep({ variable: name }), "credential.invalid");
      await refusal(provider.reveal(binding, name), "credential.unreadable");
    }
    for (const secret of [{}, { variable: 1 }, { token: "canary-t" }])
      await refusal(keep(secret), "credential.invalid");
  });

  test("a variable that is not set, or empty, is an error and no empty value", async () => {
    for (const name of ["EXECUTOR_SECRET_GONE", "EXECUTOR_SECRET_EMPTY"]) {
      await refusal(keep({ variable: name }), "credential.invalid");
      await refusal(provider.reveal(binding, name), "credential.unreadable");
    }
  });
});

describe("workos-vault", () => {
  const API_KEY = "sk_canary";
  interface Kept {
    id: string;
    name: string;
    value: string;
    metadata: { context: Record<string, string> };
  }
  let objects: Map<string, Kept>;
  let failWith: number | null;
  let server: ReturnType<typeof Bun.serve>;

  beforeEach(() => {
    objects = new Map();
    failWith = null;
    server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
  });
  afterEach(() => server.stop(true));

  async function answer(request: Request): Promise<Response> {
    if (failWith !== null) return Response.json({ message: "canary in an answer" }, { status: failWith });
    if (request.headers.get("authorization") !== `Bearer ${API_KEY}`)
      return Response.json({ message: "Unauthorized" }, { status: 401 });
    const [, id] = /^\/vault\/v1\/kv(?:\/([^/]+))?$/.exec(new URL(request.url).pathname) ?? [];
    if (request.method === "POST" && id === undefined) {
      const body = (await request.json()) as { name: string; value: string; key_context?: Record<string, string> };
      if (!body.key_context || Object.keys(body.key_context).length === 0)
        return Response.json({ error: "key_context is required" }, { status: 400 });
      const made = {
        id: `secret_${objects.size}`,
        name: body.name,
        value: body.value,
        metadata: { context: body.key_context },
      };
      objects.set(made.id, made);
      return Response.json({ id: made.id, context: body.key_context }, { status: 201 });
    }
    const found = objects.get(id ?? "");
    if (!found) return Response.json({ error: "not found" }, { status: 404 });
    if (request.method === "DELETE") objects.delete(found.id);
    return request.method === "DELETE" ? new Response(null, { status: 204 }) : Response.json(found);
  }

  const provider = (apiKey = API_KEY) =>
    createWorkosVaultProvider({ fetch: fetch as GuardedFetch, apiKey, baseUrl: `${server.url.origin}/` });
  const put = (id: string, value: string, context: Record<string, string> = {}) =>
    objects.set(id, { id, name: id, value, metadata: { context } });

  test("keeps a secret there under a key of its workspace, and deletes it with its row", async () => {
    const secretJson = JSON.stringify({ token: "canary-t" });
    const kept = await provider().keep(binding, secretJson);
    expect(kept).not.toContain("canary");
    const [made] = objects.values();
    expect(made?.metadata.context).toEqual({ executor_workspace: "ws_1" });
    expect(await provider().reveal(binding, kept)).toBe(secretJson);
    await provider().forget(binding, kept);
    expect(objects.size).toBe(0);
    await refusal(provider().reveal(binding, kept), "credential.unreadable");
    await provider().forget(binding, kept);
  });

  test("reads an object that somebody else made, and leaves it there", async () => {
    put("secret_mine", "canary-plain", { organization_id: "org_1" });
    const kept = await provider().keep(binding, JSON.stringify({ objectId: "secret_mine" }));
    expect(JSON.parse(await provider().reveal(binding, kept))).toMatchObject({ token: "canary-plain" });
    await provider().forget(binding, kept);
    expect(objects.has("secret_mine")).toBe(true);
  });

  test("refuses an object of another workspace, when it is named and when a row was changed", async () => {
    put("secret_theirs", "canary-theirs", { executor_workspace: "ws_2" });
    const secretJson = JSON.stringify({ objectId: "secret_theirs" });
    expect((await refusal(provider().keep(binding, secretJson), "credential.invalid")).detail).toContain(
      "another workspace",
    );
    const moved = JSON.stringify({ objectId: "secret_theirs", ours: true });
    await refusal(provider().reveal(binding, moved), "credential.unreadable");
  });

  test("an id that is none never becomes a path, and a row that is none is an error", async () => {
    for (const kept of ["", "{}", `{"objectId":"../x","ours":true}`, `{"objectId":"a/b","ours":true}`, "null"])
      expect((await refusal(provider().reveal(binding, kept), "credential.unreadable")).detail).toContain(
        "Save it anew",
      );
  });

  test("says what went wrong, without what WorkOS answered", async () => {
    const kept = await provider().keep(binding, `{"token":"canary-t"}`);
    const table: [number, string][] = [
      [401, "WORKOS_API_KEY"],
      [403, "WORKOS_API_KEY"],
      [404, "no such object"],
      [429, "too many requests"],
      [500, "WorkOS failed (500)"],
    ];
    for (const [status, words] of table) {
      failWith = status;
      expect((await refusal(provider().reveal(binding, kept), "credential.unreadable")).detail).toContain(words);
      await refusal(provider().keep(binding, `{"token":"canary-t"}`), "credential.unreadable");
    }
    failWith = null;
    await refusal(provider("sk_canary_wrong").reveal(binding, kept), "credential.unreadable");
    await server.stop(true);
    expect((await refusal(provider().reveal(binding, kept), "credential.unreadable")).detail).toContain(
      "could not be reached",
    );
  });
});
