/** The isolate as a process, spoken to on its socket: framing, tokens, errors, and what it does not give away. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { isolateErrors } from "@executor/contracts/isolate-rpc";
import { type RawClient, RawIsolate } from "@executor/testkit/isolate/raw-isolate";

let isolate: RawIsolate;
let client: RawClient;
beforeEach(async () => {
  isolate = await RawIsolate.open();
  client = await isolate.connect();
});
afterEach(() => isolate.close());

const ping = { id: 1, method: "ping", params: {} };

describe("framing", () => {
  test("a multi-byte character split between chunks arrives whole", async () => {
    client.run("return [...(await tools.a())]");
    expect(await client.next()).toMatchObject({ method: "tool.call", params: { idle: { calls: 1, applied: 0 } } });
    const bytes = Buffer.from(
      `${JSON.stringify({ jsonrpc: "2.0", token: "session", id: 0, result: { json: '"ä😀日"', atMs: 1 } })}\n`,
    );
    for (const byte of bytes) {
      client.bytes(new Uint8Array([byte]));
      await Bun.sleep(0);
    }
    expect(await client.next()).toMatchObject({ id: "run", result: { end: { resultJson: '["ä","😀","日"]' } } });
  });

  test("many messages in one chunk are all answered, in order", async () => {
    const line = (id: number) => `${JSON.stringify({ jsonrpc: "2.0", token: isolate.token, ...ping, id })}\n`;
    client.bytes(Array.from({ length: 500 }, (_, id) => line(id)).join(""));
    for (let id = 0; id < 500; id += 1) expect(await client.next()).toMatchObject({ id, result: { pong: true } });
  });

  test("bad JSON is -32700, a bad envelope -32600, an unknown method -32601, bad params -32602; the connection stays", async () => {
    await client.ask(ping);
    client.bytes("{nonsense\n");
    expect(await client.next()).toMatchObject({ id: null, error: { code: isolateErrors.parse } });
    client.bytes("[1]\n");
    expect(await client.next()).toMatchObject({ error: { code: isolateErrors.invalidRequest } });
    expect(await client.ask({ id: 2, method: "get_api_key", params: {} })).toMatchObject({
      id: 2,
      error: { code: isolateErrors.unknownMethod },
    });
    expect(await client.ask({ id: 3, method: "ping", params: [] })).toMatchObject({
      id: 3,
      error: { code: isolateErrors.invalidParams },
    });
    expect(await client.ask({ id: 4, method: "guest.run", params: { runId: 1 } })).toMatchObject({
      id: 4,
      error: { code: isolateErrors.invalidParams },
    });
    expect(await client.ask({ id: 5, method: "guest.timer", params: { timerId: 0, atMs: 1 } })).toMatchObject({
      error: { code: isolateErrors.noGuest },
    });
    expect(await client.ask(ping)).toMatchObject({ result: { pong: true } });
  });

  test("a line over the limit is said and ends the connection: lines are not read without a limit", async () => {
    await client.ask(ping);
    client.bytes("x".repeat(isolate.maxLineBytes + 10));
    expect(await client.next()).toMatchObject({ error: { code: isolateErrors.lineTooLong } });
    expect(await isolate.child.exited).toBe(0);
  });

  test("a second client is refused and the first one goes on", async () => {
    await client.ask(ping);
    const second = await isolate.connect();
    expect(await second.next()).toMatchObject({ error: { code: isolateErrors.busy } });
    expect(await client.ask(ping)).toMatchObject({ result: { pong: true } });
  });

  test("answers may come out of order", async () => {
    client.run("return await Promise.all([tools.a(), tools.b(), tools.c()])");
    for (let at = 0; at < 3; at += 1) await client.next();
    for (const id of [2, 0, 1]) client.send({ token: "session", id, result: { json: `"${id}"`, atMs: 1 } });
    let message = await client.next();
    while (message["method"] === "guest.idle") message = await client.next();
    expect(message).toMatchObject({ id: "run", result: { end: { kind: "returned", resultJson: '["0","1","2"]' } } });
  });

  test("writes are held back, not lost, when the client does not read for a while", async () => {
    client.run("for (let i = 0; i < 60; i++) tools.a({ t: 'x'.repeat(100000), i }); await new Promise(() => {})");
    const { socket } = client as unknown as { socket: { pause(): void; resume(): void } };
    socket.pause();
    await Bun.sleep(300);
    socket.resume();
    for (let id = 0; id < 60; id += 1) expect(await client.next()).toMatchObject({ id, method: "tool.call" });
  });
});

describe("tokens", () => {
  test("a message without the token, or with another, is refused and does nothing", async () => {
    for (const token of ["", "wrong", "session"]) {
      const answer = await client.ask({ ...ping, token });
      expect(answer).toMatchObject({ id: 1, error: { code: isolateErrors.tokenRefused } });
    }
    expect(await client.ask(ping)).toMatchObject({ result: { pong: true } });
  });

  test("a run is cancelled only with both of its ids", async () => {
    client.run("await tools.a()");
    expect(await client.next()).toMatchObject({ method: "tool.call", params: { idle: { calls: 1, applied: 0 } } });
    const cancel = (params: Record<string, string>) =>
      client.ask({ token: "session", id: 9, method: "guest.cancel", params });
    expect(await cancel({ runId: "run_1", taskId: "task_2" })).toMatchObject({
      error: { code: isolateErrors.noGuest },
    });
    expect(await cancel({ runId: "run_2", taskId: "task_1" })).toMatchObject({
      error: { code: isolateErrors.noGuest },
    });
    expect(await cancel({ runId: "run_1", taskId: "task_1" })).toMatchObject({ result: { cancelled: true } });
    expect(await client.next()).toMatchObject({ id: "run", error: { code: isolateErrors.cancelled } });
    expect(await isolate.child.exited).toBe(0);
  });

  test("one process serves one guest", async () => {
    client.run("await tools.a()");
    expect(await client.next()).toMatchObject({ method: "tool.call", params: { idle: { calls: 1, applied: 0 } } });
    client.run("return 1", { runId: "run_2" });
    expect(await client.next()).toMatchObject({ error: { code: isolateErrors.busy } });
  });
});

describe("what it gives away", () => {
  test("the socket is 0600 in a directory of 0700", () => {
    expect(isolate.modeOf(isolate.socketPath)).toBe("600");
    expect(isolate.modeOf(dirname(isolate.socketPath))).toBe("700");
  });

  test.if(existsSync("/proc/self/environ"))(
    "the environment of the host is not handed to the process, and no argument holds a token",
    () => {
      const { pid } = isolate.child;
      const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").filter(Boolean);
      const names = environment
        .map((entry) => entry.split("=", 1)[0] ?? "")
        .filter((name) => !/^(PWD|OLDPWD|SHLVL|_)$/.test(name));
      expect(names.toSorted()).toEqual(["DENO_DIR", "DENO_NO_UPDATE_CHECK", "HOME", "LANG", "NO_COLOR", "TZ"]);
      expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).not.toContain(isolate.token);
    },
  );

  test("the engine grants nothing any more", async () => {
    expect(await client.ask(ping)).toMatchObject({ result: { granted: [] } });
  });

  test("errors carry no stack and no path", async () => {
    client.bytes("{\n");
    const texts = [JSON.stringify(await client.next())];
    client.run("null.x");
    texts.push(JSON.stringify(await client.next().catch(String)));
    for (const text of texts) expect(text).not.toMatch(/stack|\.ts\b|\/tmp|file:|isolate\.js/);
  });

  test("shutdown has a handler: it is answered and the process ends", async () => {
    expect(await client.ask({ id: 7, method: "shutdown", params: {} })).toMatchObject({
      id: 7,
      result: { status: "idle" },
    });
    expect(await isolate.child.exited).toBe(0);
  });

  test("the end of stdin ends the process, and so does a client that hangs up", async () => {
    await client.ask(ping);
    client.socket.end();
    expect(await isolate.child.exited).toBe(0);
    const other = await RawIsolate.open();
    await other.child.stdin.end();
    expect(await other.child.exited).toBe(0);
    await other.close();
  });
});
