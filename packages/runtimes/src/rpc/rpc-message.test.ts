import { expect, test } from "bun:test";
import { isolateErrors, type IsolateMessage } from "@executor/contracts/isolate-rpc";
import { readMessage, writeMessage } from "./rpc-message.ts";

const messages: IsolateMessage[] = [
  { kind: "request", id: 3, method: "tool.call", params: { path: "a.b", inputJson: '{"x":"\\u2028\\n"}' }, token: "t" },
  { kind: "notification", method: "guest.output", params: { text: "ä\n😀" }, token: "t" },
  { kind: "result", id: "run", result: { end: { kind: "returned", resultJson: "1" } }, token: "t" },
  { kind: "error", id: null, error: { code: -32_700, message: "no", data: undefined }, token: "" },
];

test.each(messages)("what is written is one line and reads back: %o", (message) => {
  const line = writeMessage(message);
  expect(line.indexOf("\n")).toBe(line.length - 1);
  expect(readMessage(line)).toEqual({ ok: true, message });
});

test.each([
  ["{", isolateErrors.parse],
  ["", isolateErrors.parse],
  ["[]", isolateErrors.invalidRequest],
  ["null", isolateErrors.invalidRequest],
  ['"x"', isolateErrors.invalidRequest],
  ["{}", isolateErrors.invalidRequest],
  ['{"jsonrpc":"1.0","id":1,"method":"ping"}', isolateErrors.invalidRequest],
  ['{"jsonrpc":"2.0","id":{},"method":"ping"}', isolateErrors.invalidRequest],
  ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', isolateErrors.invalidRequest],
  ['{"jsonrpc":"2.0","id":1,"method":7}', isolateErrors.invalidRequest],
  ['{"jsonrpc":"2.0","id":1,"token":7,"method":"ping"}', isolateErrors.invalidRequest],
  ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', isolateErrors.invalidParams],
  ['{"jsonrpc":"2.0","id":1,"method":"ping","params":null}', isolateErrors.invalidParams],
  ['{"jsonrpc":"2.0","id":1}', isolateErrors.invalidRequest],
  ['{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"y"}}', isolateErrors.invalidRequest],
  ['{"jsonrpc":"2.0","result":1}', isolateErrors.invalidRequest],
])("%s is refused with %d", (line, code) => {
  const read = readMessage(line);
  expect(read.ok ? read.message : read.error.code).toBe(code);
});
