import { expect, test } from "bun:test";
import { findMisfits } from "./answer-schema.ts";

const object = {
  type: "object",
  properties: { name: { type: "string", minLength: 1 }, count: { type: "integer" } },
  required: ["name"],
  additionalProperties: false,
};

test.each([
  [{ type: "string" }, "a", true],
  [{ type: "string" }, 1, false],
  [{ enum: ["a", "b"] }, "b", true],
  [{ enum: ["a", "b"] }, "c", false],
  [{ type: "string", enum: ["a"] }, "a", true],
  [{ type: ["string", "null"] }, null, true],
  [{ const: 1 }, 2, false],
  [{ type: "array", items: { type: "number" } }, [1, 2], true],
  [{ type: "array", items: { type: "number" } }, [1, "2"], false],
  [object, { name: "x", count: 2 }, true],
  [object, { name: "" }, false],
  [object, { count: 2 }, false],
  [object, { name: "x", count: 1.5 }, false],
  [object, { name: "x", other: 1 }, false],
  [object, JSON.parse('{"name":"x","__proto__":1}'), false],
  [object, [], false],
  [{}, { any: "thing" }, true],
])("%j takes %j: %p", (schema, value, fits) => {
  expect(findMisfits(schema, value).length === 0).toBe(fits);
});
