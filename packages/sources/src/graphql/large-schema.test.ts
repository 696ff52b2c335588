import { describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse, validate, specifiedRules } from "graphql";
import type { FieldDetail, GraphqlMeta } from "./index-schema.ts";
import { openSource, type OpenedFixture } from "./graphql-fixture.ts";
import { openSchemaTypes } from "./schema-types.ts";

const url = "http://127.0.0.1:1/graphql";

/** With stub arguments, every default selection must be valid: the strictest reader is the library's own. */
function invalidSelections({ index }: OpenedFixture): string[] {
  const schema = openSchemaTypes(index.details, JSON.parse(index.metaJson) as GraphqlMeta).schema();
  const rules = specifiedRules;
  return index.tools.slice(0, -1).flatMap((tool) => {
    const { operation, field, selection } = JSON.parse(
      index.details.slice(tool.at, tool.at + tool.length),
    ) as FieldDetail;
    const args = field.args ?? [];
    const head = args.map(({ name, type }) => `$${name}: ${type}`).join(", ");
    const passed = args.map(({ name }) => `${name}: $${name}`).join(", ");
    const text = `${operation}${head && `(${head})`} { ${field.name}${passed && `(${passed})`} ${selection} }`;
    return validate(schema, parse(text), rules).map((error) => `${tool.name}: ${error.message}`);
  });
}

/** As databases have them: filters that all reach each other. */
function databaseSdl(tables: number): string {
  const names = Array.from({ length: tables }, (_, n) => `t${n}`);
  const types = names.map(
    (name, n) => `
    type ${name} { id: ID! name: String next: t${(n + 1) % tables} many(limit: Int): [t${(n + 7) % tables}!]! }
    input ${name}_filter { and: [${name}_filter!] name: String next: t${(n + 1) % tables}_filter other: t${(n * 31) % tables}_filter }
    input ${name}_insert { name: String! next: t${(n + 1) % tables}_insert }`,
  );
  const queries = names.map((name) => `${name}(where: ${name}_filter, limit: Int): [${name}!]!`);
  const mutations = names.map((name) => `insert_${name}(objects: [${name}_insert!]!): ${name}`);
  return `${types.join("")} type Query { ${queries.join(" ")} } type Mutation { ${mutations.join(" ")} }`;
}

describe("large schemas", () => {
  test("GitHub's becomes tools with unique names and valid selections, quickly", async () => {
    const spec = await readFile(
      join(dirname(fileURLToPath(import.meta.resolve("@octokit/graphql-schema/package.json"))), "schema.graphql"),
      "utf8",
    );
    const started = performance.now();
    const opened = await openSource({ url, spec });
    const readMs = performance.now() - started;
    const names = opened.index.tools.map(({ name }) => name);
    expect(names.length).toBeGreaterThan(270);
    expect(new Set(names).size).toBe(names.length);
    expect(names.every((name) => /^(query|mutation)\.[A-Za-z_]\w*$|^document$/.test(name))).toBe(true);
    expect(invalidSelections(opened)).toEqual([]);
    expect(readMs).toBeLessThan(5_000);

    const shapes = await Promise.all(opened.index.tools.map((tool) => opened.tools.shape(tool)));
    expect(shapes.every(({ signature }) => signature.length < 2_000)).toBe(true);
    expect(JSON.stringify(shapes)).not.toContain("tempCloneToken");
  }, 30_000);

  test("a database's of 4,500 types that reach each other is read in bounded time and described in bounded size", async () => {
    const opened = await openSource({ url, spec: databaseSdl(1_500) });
    expect(opened.index.tools.length).toBe(3_001);
    const { inputSchema } = await opened.tools.shape(opened.tool("query.t3"));
    expect(Object.keys(inputSchema.$defs as object).length).toBeLessThanOrEqual(150);
    expect(invalidSelections(opened)).toEqual([]);
  }, 30_000);
});
