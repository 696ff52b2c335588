/**
 * What every kind of source must do, whatever is behind it. A kind's own test starts a real server on loopback and calls
 * `describeSourceKind`. Looks through the port only.
 */
import { describe, expect, test } from "bun:test";
import { AppError } from "@executor/contracts/error";
import type { AuthParts, GuardedFetch, ReadIo, SourceIndex, SourceKind, SourceSpec } from "@executor/core/ports/source";
import type { Sent, ToolCall } from "@executor/core/tools/tool";

export interface SourceFixture {
  kind: SourceKind;
  definition: SourceSpec["definition"];
  fetch: GuardedFetch;
  probeUrl: string;
  /** A tool that reads, one that writes, and one that fails on the other side. */
  reads: { name: string; input: unknown; result: unknown };
  writes: { name: string; input: unknown };
  fails: { name: string; input: unknown };
  /** A call whose input does not fit. */
  misfit: { name: string; input: unknown };
  /** A call whose answer repeats the secret that was sent, if the server has one. */
  echoes?: { name: string; input: unknown; auth(secret: string): AuthParts };
  stop(): Promise<void>;
}

const none: AuthParts = { parts: [], secrets: [] };
const SEGMENT = /^[A-Za-z_][A-Za-z0-9_]*$/;
const FORBIDDEN = new Set(["then", "constructor", "prototype", "__proto__", "toString", "toJSON", "valueOf"]);

export function describeSourceKind(name: string, open: () => Promise<SourceFixture>): void {
  const withFixture = (work: (fixture: SourceFixture) => Promise<void>) => async () => {
    const fixture = await open();
    try {
      await work(fixture);
    } finally {
      await fixture.stop();
    }
  };
  describe(`${name} source`, () => {
    test("gives each tool a safe name of its own, and the same index for the same source", withFixture(checkIndex));
    test("describes a tool with a signature and schemas", withFixture(checkShapes));
    test("reads without asking, asks before it writes, and tells errors of the other side", withFixture(checkCalls));
    test("refuses an input that does not fit before anything is sent", withFixture(checkMisfit));
    test("gives back no secret that was sent along", withFixture(checkSecrets));
    test("knows its own when it sees it, and nothing else", withFixture(checkProbe));
    test("says why a source cannot be read", withFixture(checkUnreadable));
  });
}

async function checkIndex(fixture: SourceFixture): Promise<void> {
  const index = await read(fixture);
  const names = index.tools.map((tool) => tool.name);
  expect(names.length).toBeGreaterThan(0);
  expect(new Set(names).size).toBe(names.length);
  for (const part of names.flatMap((each) => each.split("."))) {
    expect(part).toMatch(SEGMENT);
    expect(FORBIDDEN.has(part)).toBe(false);
  }
  for (const tool of index.tools) {
    expect(tool.description.length).toBeLessThanOrEqual(1_000);
    expect(() => JSON.parse(index.details.slice(tool.at, tool.at + tool.length)) as unknown).not.toThrow();
    if (tool.effect === "unsafe") expect(tool.approval).toBe("required");
  }
  const again = await read(fixture);
  expect(again.tools).toEqual(index.tools);
  expect(again.metaJson).toBe(index.metaJson);
}

async function checkShapes(fixture: SourceFixture): Promise<void> {
  const { tools, index } = await opened(fixture);
  for (const tool of index.tools) {
    const shape = await tools.shape(tool);
    expect(shape.signature).toMatch(/^\(.*\) => Promise</s);
    expect(JSON.parse(JSON.stringify(shape.inputSchema))).toEqual(shape.inputSchema);
  }
}

async function checkCalls(fixture: SourceFixture): Promise<void> {
  const { call, index } = await opened(fixture);
  const { reads, writes, fails } = fixture;
  const sent = await call(reads.name, reads.input);
  if (!("ok" in sent) || !sent.ok) throw new Error(`the read failed: ${JSON.stringify(sent)}`);
  expect(JSON.parse(sent.json)).toEqual(reads.result as never);
  const write = index.tools.find((tool) => tool.name === writes.name);
  expect(write).toMatchObject({ effect: "unsafe", approval: "required" });
  expect(await call(writes.name, writes.input)).toMatchObject({ ok: true });
  expect(await call(fails.name, fails.input)).toMatchObject({ ok: false, code: "call.upstream_error" });
}

async function checkMisfit(fixture: SourceFixture): Promise<void> {
  const { call } = await opened(fixture);
  const refused = await call(fixture.misfit.name, fixture.misfit.input).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(AppError);
  expect((refused as AppError).code).toBe("call.input_invalid");
}

async function checkSecrets(fixture: SourceFixture): Promise<void> {
  if (!fixture.echoes) return;
  const secret = `canary-${crypto.randomUUID()}`;
  const { call } = await opened(fixture, fixture.echoes.auth(secret));
  const text = JSON.stringify(await call(fixture.echoes.name, fixture.echoes.input));
  expect(text).not.toContain(secret);
  expect(text).toContain("[redacted]");
}

async function checkProbe(fixture: SourceFixture): Promise<void> {
  const found = await fixture.kind.probe(fixture.probeUrl, io(fixture));
  expect(found).toMatchObject({ type: fixture.kind.type });
  expect(found?.confidence).toBeGreaterThan(0.5);
  const page = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response("<p>hello</p>", { headers: { "content-type": "text/html" } }),
  });
  try {
    expect(await fixture.kind.probe(`http://127.0.0.1:${page.port}/`, io(fixture))).toBeNull();
  } finally {
    await page.stop(true);
  }
}

async function checkUnreadable(fixture: SourceFixture): Promise<void> {
  const nobody = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("no", { status: 500 }) });
  const url = `http://127.0.0.1:${nobody.port}/`;
  try {
    const { auth: _, spec, ...rest } = fixture.definition;
    const definition = { ...rest, ...(spec !== undefined && { spec: url }), ...(rest.url !== undefined && { url }) };
    const failed = await fixture.kind
      .read(specOf({ ...fixture, definition }), io(fixture))
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(AppError);
  } finally {
    await nobody.stop(true);
  }
}

async function opened(fixture: SourceFixture, auth = none) {
  const index = await read(fixture);
  const { kind, fetch } = fixture;
  const tools = await kind.open({
    source: specOf(fixture),
    metaJson: index.metaJson,
    details: async () => index.details,
  });
  const call = async (name: string, input: unknown): Promise<Sent> => {
    const tool = index.tools.find((each) => each.name === name);
    if (!tool) throw new Error(`no tool ${name}; there are ${index.tools.map((each) => each.name).join(", ")}`);
    const prepared = await tools.prepare(tool, callOf(name, input), { fetch, auth, maxResultBytes: 10_000_000 });
    return prepared.kind === "ask" ? prepared : await prepared.send();
  };
  return { index, tools, call };
}

const read = (fixture: SourceFixture): Promise<SourceIndex> => fixture.kind.read(specOf(fixture), io(fixture));

const specOf = ({ definition }: Pick<SourceFixture, "definition">): SourceSpec => ({
  sourceId: "source_conformance",
  workspaceId: "ws_conformance",
  namespace: "conformance",
  definition,
});

const io = ({ fetch }: SourceFixture): ReadIo => ({
  fetch,
  auth: none,
  mayReachMachine: false,
  signal: AbortSignal.timeout(20_000),
  onProgress: () => undefined,
});

const callOf = (toolPath: string, input: unknown): ToolCall => ({
  taskId: "task_conformance",
  callId: "call_conformance",
  workspaceId: "ws_conformance",
  actorId: "actor_conformance",
  clientId: "client_conformance",
  toolPath,
  input,
  answer: undefined,
  answers: [],
  signal: AbortSignal.timeout(20_000),
});
