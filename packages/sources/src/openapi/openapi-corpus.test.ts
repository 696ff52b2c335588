/** The documents at hand without an install: each tool called against the server that checks what comes. All others: `bun run test:corpus`. */
import { afterAll, expect, test } from "bun:test";
import { Glob } from "bun";
import { startEchoServer } from "@executor/testkit/openapi-corpus/echo-server";
import { runDocument } from "@executor/testkit/openapi-corpus/run-document";

const examples = `${import.meta.dir}/../../node_modules/@readme/oas-examples`;
const own = `${import.meta.dir}/../../../../corpus/documents`;
const files = [
  ...[...new Glob("{2.0,3.0,3.1}/json/*.json").scanSync(examples)].toSorted().map((file) => `${examples}/${file}`),
  ...[...new Glob("*.yaml").scanSync(own)].toSorted().map((file) => `${own}/${file}`),
];
const echo = startEchoServer();
afterAll(() => echo.stop());

test("the documents are there", () => {
  expect(files.length).toBeGreaterThanOrEqual(60);
});

for (const file of files) {
  test(file.split("/").slice(-3).join("/"), async () => {
    const text = await Bun.file(file).text();
    const root = (file.endsWith(".json") ? JSON.parse(text) : Bun.YAML.parse(text)) as Record<string, unknown>;
    const report = await runDocument({ text, root, echo });
    expect(report.failures).toEqual([]);
    expect(report.tools).toBe(report.operations);
    expect(report.calls).toBe(report.tools * 2);
  });
}
