/** What a document may look like before it is one: encodings, YAML's turns, pages instead of documents. */
import { describe, expect, test } from "bun:test";
import { readDocument } from "@executor/testkit/openapi-corpus/corpus-source";
import { decodeText, parseText } from "./parse-text.ts";
import { asDocument } from "./load-document.ts";

const yaml = (paths: string): string => `openapi: 3.1.0\ninfo: {title: T, version: "1"}\npaths:\n${paths}`;
const simple = yaml("  /a:\n    get: {operationId: first, responses: {200: {description: ok}}}\n");
const json = JSON.stringify({ openapi: "3.1.0", info: {}, paths: { "/ä": { get: { operationId: "größe" } } } });
const namesOf = async (text: string): Promise<string[]> => (await readDocument(text)).tools.map(({ name }) => name);
const refusal = async (text: string): Promise<string> =>
  await readDocument(text).then(
    () => "it was read",
    (error: Error) => error.message,
  );

describe("bytes", () => {
  const utf16 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "utf16le"));
  const swapped = (bytes: Uint8Array): Uint8Array => new Uint8Array(Buffer.from(bytes).swap16());
  const cases: [string, Uint8Array, string?][] = [
    ["UTF-8", new TextEncoder().encode(json)],
    ["UTF-8 with a mark", new TextEncoder().encode(`\ufeff${json}`)],
    ["UTF-16LE with a mark", utf16(`\ufeff${json}`)],
    ["UTF-16BE with a mark", swapped(utf16(`\ufeff${json}`))],
    ["UTF-16LE without one", utf16(json)],
    ["UTF-16BE without one", swapped(utf16(json))],
    ["Latin-1, as its server says", new Uint8Array(Buffer.from(json, "latin1")), "text/plain; charset=iso-8859-1"],
    ["UTF-8 of a charset nobody knows", new TextEncoder().encode(json), "text/plain; charset=x-none"],
  ];
  for (const [title, bytes, type] of cases) {
    test(`of ${title} are read`, () => {
      expect(parseText(decodeText(bytes, type), asDocument).root).toEqual(JSON.parse(json));
    });
  }
});

describe("YAML", () => {
  test("with marks, Windows line ends, comments, directives or a second document is read", async () => {
    for (const text of [
      `\ufeff${simple}`,
      simple.replaceAll("\n", "\r\n"),
      `# a comment\n%YAML 1.2\n---\n${simple}...\n`,
      `---\n${simple}---\nanother: document\n`,
      simple.replace("get:", "get:\t"),
    ])
      expect(await namesOf(text)).toEqual(["a.first"]);
  });

  test("merges, anchors, dates, octals and names that are numbers mean what YAML 1.2 says", async () => {
    const index = await readDocument(
      `x-common: &common\n  required: true\n  schema: {type: string}\n${yaml(
        [
          "  /a/{id}:",
          "    get:",
          "      operationId: 2024-01-01",
          "      tags: [yes, 1]",
          "      parameters:",
          "        - {<<: *common, name: id, in: path}",
          "        - {<<: [*common], name: 7, in: query, required: false}",
          "        - {name: d, in: query, schema: {enum: [2024-01-01, 0755, 0o17, no, 12:30]}}",
          "",
        ].join("\n"),
      )}`,
    );
    const [tool] = index.tools;
    expect(tool?.name).toBe("yes._2024_01_01");
    const { params } = JSON.parse(index.details.slice(0, tool?.length));
    expect(params.map((param: { name: string; required: boolean }) => `${param.name} ${param.required}`)).toEqual([
      "id true",
      "7 false",
      "d false",
    ]);
    expect(params[2].schema.enum).toEqual(["2024-01-01", 755, 15, "no", "12:30"]);
    expect(index.warnings).toEqual([]);
  });

  test("that says a path twice keeps the last, with a warning", async () => {
    const index = await readDocument(
      yaml("  /a:\n    get: {operationId: first}\n  /a:\n    post: {operationId: second}\n"),
    );
    expect(index.tools.map(({ name }) => name)).toEqual(["a.second"]);
    expect(index.warnings).toEqual(['The path "/a" stands 2 times in the document; only the last is read.']);
  });

  test("indented with tabs, or nested without end, is refused with its reason", async () => {
    expect(await refusal(simple.replaceAll("  ", "\t"))).toContain("Tab characters cannot be used as indentation");
    expect(await refusal(`${simple}x-deep: ${"[".repeat(5_000)}${"]".repeat(5_000)}\n`)).toContain("nested too deep");
  });

  test("of versions without quotes is no unknown version", async () => {
    for (const version of ["openapi: 3.0", "openapi: 3.1", "swagger: 2.0"])
      expect((await readDocument(simple.replace("openapi: 3.1.0", version))).warnings).toEqual([]);
  });
});

describe("what is no document says what came instead", () => {
  const cases: [string, string][] = [
    ["", "The document is empty."],
    [" \n ", "The document is empty."],
    ["<!DOCTYPE html><html><head><title>Sign in</title></head></html>", 'A page for people came ("Sign in")'],
    ["<?xml version='1.0'?><a/>", "An XML document came"],
    ["42", "got a number"],
    ["[]", "got a list"],
    ["null", "got nothing"],
    ["hello", "got a string"],
    ['{"hello": 1}', "got an object with hello"],
    [json.slice(0, -3), "neither JSON nor YAML (as JSON:"],
    ['{"swaggerVersion": "1.2", "apis": []}', "Swagger 2.0 and OpenAPI 3 are read"],
    ['{"openapi": "3.0.0", "info": {}}', "has no paths"],
  ];
  for (const [text, part] of cases) {
    test(`${JSON.stringify(text.slice(0, 30))}: ${part}`, async () => {
      expect(await refusal(text)).toContain(part);
    });
  }

  test("a comma too many is forgiven", async () => {
    expect(await namesOf('{"openapi":"3.0.0","info":{},"paths":{"/a":{"get":{},}},}')).toEqual(["a.get_a"]);
  });
});
