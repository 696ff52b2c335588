/** A sign-in that allows too little: a person is asked for more, and not for ever. */
import { expect, test } from "bun:test";
import type { IndexedTool, SourceTools } from "@executor/core/ports/source";
import type { Answered, Sent, ToolCall } from "@executor/core/tools/tool";
import { createLoopbackFetch } from "@executor/testkit/tools/loopback-fetch";
import { createSourceTool, type Resolved } from "./source-tool.ts";

const indexed: IndexedTool = {
  name: "pay",
  description: "Pay",
  effect: "unsafe",
  idempotent: false,
  approval: "required",
  hash: "h",
  keywords: "",
  at: 0,
  length: 0,
};
const signIn = (scopes: readonly string[]) => ({
  kind: "ask" as const,
  ask: { kind: "oauth" as const, title: "More", detail: scopes.join(" "), answerSchema: null, url: null },
});
const widened: Answered = { kind: "oauth", answer: { given: true }, stateJson: '{"scopes":["b"]}' };
const missing: Answered = { kind: "oauth", answer: { given: true }, stateJson: '{"sourceKey":"pets"}' };

async function send(
  refused: { status: number; challenge?: string },
  options: { answers?: Answered[]; isSignIn?: boolean } = {},
): Promise<Sent> {
  const resolved: Resolved = {
    kind: "ready",
    auth: { parts: [], secrets: [] },
    renew: null,
    widen: options.isSignIn === false ? null : signIn,
  };
  const tools: SourceTools = {
    shape: () => Promise.reject(new Error("not asked")),
    prepare: async () => ({
      kind: "ready",
      send: async () => ({ ok: false, code: "call.upstream_error", message: "The server said no.", ...refused }),
    }),
  };
  const parts = {
    fetch: createLoopbackFetch(),
    credentials: { resolve: async () => resolved },
    maxResultBytes: 1_000,
    log: {} as never,
  };
  const definition = { type: "mcp" as const, name: "Pets", url: "https://pets.example/mcp" };
  const source = { sourceId: "s", workspaceId: "w", namespace: "pets", definition };
  const ids = { taskId: "t", callId: "c", workspaceId: "w", actorId: "a", clientId: "l", toolPath: "pets.pay" };
  const signal = AbortSignal.timeout(5_000);
  const call: ToolCall = { ...ids, input: {}, answer: undefined, answers: options.answers ?? [], signal };
  const prepared = await createSourceTool(parts, source, indexed, tools).prepare(call);
  return prepared.kind === "ask" ? prepared : await prepared.send();
}

const challenge = 'Bearer error="insufficient_scope", scope="a b"';

test("scopes that the server misses are asked for, at most twice for a call", async () => {
  expect(await send({ status: 403, challenge })).toMatchObject({ kind: "ask", ask: { detail: "a b" } });
  const once = await send({ status: 403, challenge }, { answers: [missing, widened] });
  expect(once).toMatchObject({ kind: "ask" });
  const twice = await send({ status: 403, challenge }, { answers: [widened, widened] });
  expect(twice).toMatchObject({ ok: false, status: 403, message: expect.stringContaining("nobody is asked again") });
});

const plain: [what: string, refused: Parameters<typeof send>[0], isSignIn: boolean][] = [
  ["a 403 without a challenge", { status: 403 }, true],
  ["a 403 that names no scope", { status: 403, challenge: "Bearer" }, true],
  ["a 403 for another reason", { status: 403, challenge: 'Bearer error="invalid_token", scope="a"' }, true],
  ["a 401", { status: 401, challenge }, true],
  ["a source without sign-in", { status: 403, challenge }, false],
];
test.each(plain)("%s is the call's own error, and its challenge is shown to nobody", async (_, refused, isSignIn) => {
  const sent = await send(refused, { isSignIn });
  expect(sent).toMatchObject({ ok: false, status: refused.status });
  expect(sent).not.toHaveProperty("challenge");
});
