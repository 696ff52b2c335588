import { describe, expect, test } from "bun:test";
import { schemaToTypescript, signatureOf } from "./schema-to-typescript.ts";

const cases: [string, unknown, string][] = [
  ["strings, numbers and the rest", { type: ["string", "integer", "null"] }, "string | number | null"],
  ["nothing at all", {}, "unknown"],
  ["no schema", undefined, "unknown"],
  ["true and false", { type: "object", properties: { a: true, b: false } }, "{ a?: unknown; b?: never }"],
  ["enums", { enum: ["open", 'a "b"', 1, null] }, '"open" | "a \\"b\\"" | 1 | null'],
  ["enums of one type", { type: "string", enum: ["a"] }, '"a"'],
  ["constants", { const: "x" }, '"x"'],
  [
    "arrays of unions",
    { type: "array", items: { anyOf: [{ type: "string" }, { type: "null" }] } },
    "(string | null)[]",
  ],
  ["arrays of strings with bars", { type: "array", items: { enum: ["a | b"] } }, '"a | b"[]'],
  ["tuples", { prefixItems: [{ type: "string" }], items: false }, "[string]"],
  ["maps", { type: "object", additionalProperties: { type: "number" } }, "Record<string, number>"],
  ["empty objects", { type: "object", additionalProperties: false }, "{}"],
  ["objects of anything", { type: "object" }, "Record<string, unknown>"],
  [
    "names that are no identifiers",
    { type: "object", properties: { "a-b": { type: "string" }, ok: { type: "string" } }, required: ["ok"] },
    '{ ok: string; "a-b"?: string }',
  ],
  [
    "open objects",
    { properties: { a: { type: "string" } }, additionalProperties: true },
    "{ a?: string; [key: string]: unknown }",
  ],
  [
    "intersections",
    { allOf: [{ properties: { a: { type: "string" } } }, { anyOf: [{ type: "string" }, { type: "null" }] }] },
    "{ a?: string } & (string | null)",
  ],
  [
    "alternatives that only name required properties",
    { type: "object", properties: { a: { type: "string" } }, anyOf: [{ required: ["a"] }, { required: ["b"] }] },
    "{ a?: string }",
  ],
  ["nullable of OpenAPI 3.0", { type: "string", nullable: true }, "string | null"],
  ["a reference", { $ref: "#/$defs/A", $defs: { A: { type: "string" } } }, "string"],
  ["a reference to nowhere", { $ref: "#/$defs/B", $defs: {} }, "unknown"],
  [
    "a cycle",
    { $ref: "#/$defs/A", $defs: { A: { properties: { next: { $ref: "#/$defs/A" } } } } },
    "{ next?: unknown }",
  ],
  ["an unknown type", { type: "quux" }, "unknown"],
];

describe("schemaToTypescript", () => {
  test.each(cases)("writes %s", (_name, schema, expected) => {
    expect(schemaToTypescript(schema)).toBe(expected);
  });

  test("never writes more than it may, and stays open where it left something out", () => {
    const properties = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`property_${n}`, { type: "string" }]));
    const text = schemaToTypescript({ type: "object", properties, required: ["property_150"] }, { maxLength: 300 });
    expect(text.length).toBeLessThanOrEqual(300);
    expect(text).toStartWith("{ property_150: string; ");
    expect(text).toEndWith("[key: string]: unknown }");
  });

  test("takes nesting away before it takes properties away", () => {
    const deep = { properties: { a: { properties: { b: { properties: { c: { enum: ["x".repeat(200)] } } } } } } };
    expect(schemaToTypescript(deep, { maxLength: 120 })).toBe("{ a?: { b?: Record<string, unknown> } }");
  });

  test("ends in time on schemas that grow without end", () => {
    const fan = { properties: Object.fromEntries(["a", "b", "c", "d"].map((n) => [n, { $ref: `#/$defs/${n}` }])) };
    const schema = { ...fan, $defs: { a: fan, b: fan, c: fan, d: { allOf: [{ $ref: "#/$defs/d" }] } } };
    expect(schemaToTypescript(schema, { maxLength: 800 }).length).toBeLessThanOrEqual(800);
  });

  test("writes over several lines when it is given an indentation", () => {
    expect(schemaToTypescript({ properties: { a: { type: "string" } } }, { indent: "  " })).toBe("{\n  a?: string;\n}");
  });
});

describe("signatureOf", () => {
  test("needs an input only when something in it is required", () => {
    const outputSchema = { type: "array", items: { type: "object", properties: { id: { type: "integer" } } } };
    const inputSchema = { type: "object", properties: { owner: { type: "string" } } };
    expect(signatureOf({ inputSchema, outputSchema })).toBe(
      "(input?: { owner?: string }) => Promise<{ id?: number }[]>",
    );
    expect(signatureOf({ inputSchema: { ...inputSchema, required: ["owner"] }, outputSchema: {} })).toBe(
      "(input: { owner: string }) => Promise<unknown>",
    );
  });
});
