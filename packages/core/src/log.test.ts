import { expect, test } from "bun:test";
import { createLogger, type LogFields, type LogLevel } from "./log.ts";

test("a line is one JSON object with time, level and message first", () => {
  expect(lineOf({ port: 8788 })).toBe('{"time":"1970-01-01T00:00:00.000Z","level":"info","msg":"m","port":8788}');
});

test("secrets are masked by name, at any depth", () => {
  const entry = logged({
    token: "abc",
    headers: { Authorization: "x", "set-cookie": "y" },
    list: [{ apiKey: "z" }],
    sessionId: "s",
    password: "p",
    clientSecret: "c",
  });
  expect(entry).toMatchObject({
    token: "[masked]",
    headers: { Authorization: "[masked]", "set-cookie": "[masked]" },
    list: [{ apiKey: "[masked]" }],
    sessionId: "[masked]",
    password: "[masked]",
    clientSecret: "[masked]",
  });
  expect(logged({ tokens: 12, workspaceId: "ws_1" })).toMatchObject({ tokens: 12, workspaceId: "ws_1" });
});

test("secrets are masked by their looks, inside any text", () => {
  const token = `ex_key_${"Az09-_".repeat(8)}`;
  for (const text of [
    `sent ${token}!`,
    `Bearer ${token}`,
    "authorization: bearer abcdefghijkl",
    "https://ann:hunter2@example.com/x",
  ]) {
    expect(lineOf({ note: text, error: new Error(text) })).not.toMatch(/Az09|abcdefgh|hunter2/);
  }
});

test("a line break in a value cannot start a second line", () => {
  expect(lineOf({ name: 'a\r\n{"msg":"fake"}' })).not.toMatch(/[\r\n]/);
});

test("fields cannot replace time, level or message", () => {
  expect(logged({ time: "x", level: "y", msg: "z" })).toMatchObject({
    time: "1970-01-01T00:00:00.000Z",
    level: "info",
    msg: "m",
  });
});

test("long, deep and cyclic values are bounded", () => {
  const cyclic: LogFields = { text: "x".repeat(1_000_000), many: Array.from({ length: 10_000 }, (_, index) => index) };
  cyclic["self"] = cyclic;
  expect(lineOf(cyclic).length).toBeLessThan(100_000);
});

test("an error keeps its cause and its code", () => {
  const error = Object.assign(new Error("outer", { cause: new Error("inner") }), { code: "EX" });
  expect(logged({ error })).toMatchObject({
    error: { name: "Error", message: "outer", code: "EX", cause: { message: "inner" } },
  });
});

test("what is below the level is not written", () => {
  const lines: string[] = [];
  const log = createLogger(
    (line) => lines.push(line),
    () => 0,
    "warn" satisfies LogLevel,
  );
  log.debug("a");
  log.info("b");
  log.warn("c");
  log.error("d");
  expect(lines.length).toBe(2);
});

function lineOf(fields: LogFields): string {
  const lines: string[] = [];
  createLogger(
    (line) => lines.push(line),
    () => 0,
  ).info("m", fields);
  return lines.join("\n");
}

const logged = (fields: LogFields): LogFields => JSON.parse(lineOf(fields)) as LogFields;
