/** The Funnel against a `tailscale` that behaves, and misbehaves, as the real one does. */
import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@executor/core/log";
import type { CallbackState } from "@executor/runtimes/vercel-sandbox/vercel-sandbox-runtime";
import { fakeHost, FakeTailscale, type TailscaleState } from "@executor/testkit/tailscale/fake-tailscale";
import { type FunnelOptions, openFunnel } from "./open-funnel.ts";

const ends: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const target = "http://127.0.0.1:8788/internal";
const answering = async (): Promise<Response> => Response.json({ instance: "me" });
const silent = async (): Promise<Response> => {
  throw new Error("connect ETIMEDOUT");
};

interface Opened {
  tailscale: FakeTailscale;
  states: CallbackState[];
  runDir: string;
  close(): Promise<void>;
}

function open(state: TailscaleState, options: Partial<FunnelOptions> = {}, runDir = newRunDir()): Opened {
  const tailscale = new FakeTailscale(state);
  ends.push(() => tailscale.remove());
  const states: CallbackState[] = [];
  const log = createLogger(() => undefined, Date.now);
  const about = {
    host: "127.0.0.1",
    port: 8788,
    instance: "me",
    runDir,
    path: `${tailscale.folder}:/usr/bin:/bin`,
    log,
  };
  const times = { openWithinMs: 4_000, probeEveryMs: 20 };
  const funnel = openFunnel({
    ...about,
    ...times,
    fetch: answering,
    onState: (each) => states.push(each),
    onUrl: () => undefined,
    ...options,
  });
  const close = (): Promise<void> => funnel.close();
  ends.push(close);
  return { tailscale, states, runDir, close };
}

function newRunDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "executor-funnel-"));
  ends.push(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function settled({ states }: Opened, fits: (state: CallbackState) => boolean): Promise<CallbackState> {
  for (let tries = 0; tries < 500; tries++) {
    const last = states.at(-1);
    if (last && fits(last)) return last;
    await Bun.sleep(20);
  }
  throw new Error(`never: ${JSON.stringify(states)}`);
}
const failed = (opened: Opened) =>
  settled(opened, (state) => "reason" in state && !state.reason.includes("being opened")) as Promise<{
    reason: string;
  }>;
const isOn = (state: CallbackState): boolean => "url" in state;

const served = (port: number, handlers: object, isPublic: boolean) => ({
  TCP: { [port]: { HTTPS: true } },
  Web: { [`${fakeHost}:${port}`]: { Handlers: handlers } },
  AllowFunnel: isPublic ? { [`${fakeHost}:${port}`]: true } : {},
});

test("it is opened for /internal only, used once its URL leads here, and taken back", async () => {
  const asked: string[] = [];
  const fetch = (url: string): Promise<Response> => (asked.push(url), asked.length < 4 ? silent() : answering());
  const onUrl = (url: string): void => void asked.push(`told of ${url}`);
  const opened = open({ mode: "ok", config: {} }, { fetch, onUrl });
  expect(await settled(opened, isOn)).toEqual({ url: `https://${fakeHost}` });
  expect(asked.shift()).toBe(`told of https://${fakeHost}`);
  expect(asked).toEqual(Array.from({ length: 3 }, () => `https://${fakeHost}/internal/ping`));
  expect(opened.tailscale.config).toEqual(served(443, { "/internal": { Proxy: target } }, true));
  expect(opened.tailscale.commands).toContain(`funnel --bg --yes --https=443 --set-path=/internal ${target}`);
  await opened.close();
  expect(opened.tailscale.config["Web"]).toEqual({});
  expect(existsSync(join(opened.runDir, "funnel.json"))).toBe(false);
});

test.each([
  ["0.0.0.0", "http://127.0.0.1:8788/internal"],
  ["::1", "http://localhost:8788/internal"],
  ["127.0.0.2", "http://127.0.0.2:8788/internal"],
])("bound to %s it leads to %s", async (host, expected) => {
  const opened = open({ mode: "ok", config: {} }, { host });
  await settled(opened, isOn);
  expect(opened.tailscale.config).toMatchObject(served(443, { "/internal": { Proxy: expected } }, true));
});

test("not installed", async () => {
  const opened = open({ mode: "ok", config: {} }, { path: "/nowhere" });
  expect((await failed(opened)).reason).toContain("not installed");
  expect(opened.tailscale.commands).toEqual([]);
});

test.each([
  ["daemon-down", /daemon does not answer.*systemctl start tailscaled/],
  ["logged-out", /logged out.*tailscale up/],
  ["not-enabled", /not switched on.*https:\/\/login\.tailscale\.com\/f\/funnel\?node=n1/],
  ["blocks", /not switched on.*https:\/\/login\.tailscale\.com\/f\/funnel\?node=n1/],
  ["access-denied", /set --operator=\$USER/],
] as const)("%s: says what to do, and leaves nothing behind", async (mode, reason) => {
  const opened = open({ mode, config: {} }, { openWithinMs: 1_500 });
  expect((await failed(opened)).reason).toMatch(reason);
  expect(opened.tailscale.config).toEqual({});
  await opened.close();
  expect(opened.tailscale.commands.filter((command) => command.endsWith(" off"))).toEqual([]);
  expect(existsSync(join(opened.runDir, "funnel.json"))).toBe(false);
});

test("handlers that are there stay as they are: private ones are not made public, public ones are shared", async () => {
  const privateRoot = served(443, { "/": { Proxy: "http://127.0.0.1:3000" } }, false);
  const first = open({ mode: "ok", config: privateRoot });
  expect(await settled(first, isOn)).toEqual({ url: `https://${fakeHost}:8443` });
  expect(first.tailscale.config["AllowFunnel"]).toEqual({ [`${fakeHost}:8443`]: true });
  await first.close();
  expect(first.tailscale.config).toEqual(privateRoot);

  const all = [443, 8443, 10000].map((port) =>
    served(port, { "/": { Proxy: "http://127.0.0.1:3000" } }, port === 10000),
  );
  const merged = Object.fromEntries(
    (["TCP", "Web", "AllowFunnel"] as const).map((key) => [key, Object.assign({}, ...all.map((each) => each[key]))]),
  );
  const second = open({ mode: "ok", config: merged });
  expect(await settled(second, isOn)).toEqual({ url: `https://${fakeHost}:10000` });
  await second.close();
  expect(second.tailscale.config).toEqual(merged);
});

test("every port is taken, or someone else is at /internal: nothing is touched", async () => {
  const foreign = { "/internal": { Proxy: "http://127.0.0.1:3000/internal" } };
  const all = [served(443, foreign, true), served(8443, { "/": { Proxy: "x" } }, false)];
  const config = {
    TCP: { ...all[0]?.TCP, ...all[1]?.TCP, 10000: { TCPForward: "127.0.0.1:22" } },
    Web: { ...all[0]?.Web, ...all[1]?.Web },
    AllowFunnel: all[0]?.AllowFunnel,
  };
  const opened = open({ mode: "ok", config });
  expect((await failed(opened)).reason).toContain("used by other handlers");
  await opened.close();
  expect(opened.tailscale.config).toEqual(JSON.parse(JSON.stringify(config)));
  expect(opened.tailscale.commands.filter((command) => command.startsWith("funnel --"))).toEqual([]);
});

test("a URL that never answers, or leads to another server, is not used", async () => {
  for (const fetch of [
    silent,
    async () => Response.json({ instance: "another" }),
    async () => new Response("<html>"),
  ]) {
    const opened = open({ mode: "ok", config: {} }, { fetch });
    expect((await failed(opened)).reason).toContain("does not lead here yet");
    await Bun.sleep(100);
    expect(opened.states.some(isOn)).toBe(false);
    await opened.close();
    expect(opened.tailscale.config["Web"]).toEqual({});
  }
});

test("what a killed server left behind is taken over on the same port, and taken back on another", async () => {
  const runDir = newRunDir();
  const config = served(443, { "/internal": { Proxy: target }, "/mine": { Proxy: "x" } }, true);
  const record = { port: 443, target };
  writeFileSync(join(runDir, "funnel.json"), JSON.stringify(record));
  const same = open({ mode: "ok", config }, {}, runDir);
  expect(await settled(same, isOn)).toEqual({ url: `https://${fakeHost}` });
  expect(JSON.parse(readFileSync(join(runDir, "funnel.json"), "utf8"))).toEqual(record);
  await same.close();

  writeFileSync(join(runDir, "funnel.json"), JSON.stringify(record));
  const other = open({ mode: "ok", config }, { port: 9000 }, runDir);
  expect(await settled(other, isOn)).toEqual({ url: `https://${fakeHost}:8443` });
  expect(other.tailscale.config["Web"]).toMatchObject({
    [`${fakeHost}:443`]: { Handlers: { "/mine": { Proxy: "x" } } },
  });
  await other.close();
});
