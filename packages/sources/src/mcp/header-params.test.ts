/** Arguments that a server of 2026-07-28 wants as headers, and tools that cannot be offered because of it. */
import { expect, test } from "bun:test";
import { findHeaderFault } from "./header-params.ts";

const named = (name: unknown, type = "string") => ({ type, "x-mcp-header": name });
const cases: [what: string, properties: object, fault: boolean][] = [
  ["no header at all", { a: { type: "string" } }, false],
  ["text, integer and yes or no", { a: named("A"), b: named("B", "integer"), c: named("C", "boolean") }, false],
  ["an argument inside an object", { a: { type: "object", properties: { b: named("B") } } }, false],
  ["an argument that is called like a keyword", { items: { type: "object", properties: { b: named("B") } } }, false],
  ["what looks like one in a default", { a: { type: "object", default: named("bad name") } }, false],
  ["a name with a space", { a: named("A B") }, true],
  ["a name with a line break", { a: named("A\r\nX: y") }, true],
  ["no name", { a: named("") }, true],
  ["a number", { a: named("A", "number") }, true],
  ["an object", { a: named("A", "object") }, true],
  ["two with one name", { a: named("Same"), b: named("same") }, true],
  ["one in a list", { a: { type: "array", items: named("A") } }, true],
  ["one in an alternative", { a: { anyOf: [named("A")] } }, true],
];
test.each(cases)("%s", (_, properties, fault) => {
  expect(findHeaderFault({ type: "object", properties }) !== null).toBe(fault);
});
