import { describe, expect, test } from "bun:test";
import { findViolations } from "./check-imports.ts";

const check = (path: string, text: string) => findViolations([{ path, text }]);

describe("who imports whom", () => {
  const allowed: [path: string, specifier: string][] = [
    ["packages/contracts/src/task.ts", "zod"],
    ["packages/contracts/src/task.ts", "./ids.ts"],
    ["packages/core/src/tasks/run-task.ts", "@executor/contracts/task"],
    ["packages/core/src/tasks/run-task.ts", "../calls/gate-call.ts"],
    ["packages/core/src/tasks/run-task.test.ts", "bun:test"],
    ["packages/core/src/tasks/run-task.test.ts", "@executor/testkit/fake-clock"],
    ["packages/store/src/sqlite/open.ts", "bun:sqlite"],
    ["packages/runtimes/src/registry.ts", "quickjs-wasi"],
    ["apps/server/src/main.ts", "@executor/worker/drain"],
    ["apps/web/src/api.ts", "@executor/client/client"],
    ["apps/isolate/src/main.ts", "@executor/runtimes/registry"],
    ["convex/tasks.ts", "convex/server"],
    ["convex/tasks.ts", "./_generated/server"],
    ["convex/tasks.test.ts", "convex-test"],
    ["packages/testkit/src/boot.ts", "@executor/server/app"],
    ["e2e/launcher.test.ts", "../scripts/parent.ts"],
  ];
  test.each(allowed)("%s may import %s", (path, specifier) => {
    expect(check(path, `import { x } from "${specifier}";`)).toEqual([]);
  });

  const refused: [path: string, specifier: string][] = [
    ["packages/contracts/src/task.ts", "@executor/core/tasks"],
    ["packages/contracts/src/task.ts", "node:crypto"],
    ["packages/core/src/tasks/run-task.ts", "zod"],
    ["packages/core/src/tasks/run-task.ts", "node:fs"],
    ["packages/core/src/tasks/run-task.ts", "fs"],
    ["packages/core/src/tasks/run-task.ts", "bun"],
    ["packages/core/src/tasks/run-task.ts", "@executor/testkit/fake-clock"],
    ["packages/core/src/tasks/run-task.test.ts", "@executor/store/sqlite/open"],
    ["packages/core/src/tasks/run-task.ts", "../../../contracts/src/task.ts"],
    ["packages/runtimes/src/registry.ts", "@executor/store/sqlite/open"],
    ["packages/sources/src/registry.ts", "@executor/runtimes/registry"],
    ["packages/store/src/sqlite/open.ts", "@executor/sources/registry"],
    ["packages/client/src/client.ts", "@executor/core/tasks"],
    ["packages/client/src/client.ts", "node:fs"],
    ["apps/worker/src/main.ts", "@executor/server/app"],
    ["apps/web/src/api.ts", "@executor/core/tasks"],
    ["apps/web/src/api.ts", "node:path"],
    ["apps/cli/src/main.ts", "@executor/store/sqlite/open"],
    ["apps/isolate/src/main.ts", "@executor/core/tasks"],
    ["convex/tasks.ts", "node:crypto"],
    ["convex/tasks.ts", "hono"],
    ["convex/tasks.ts", "@executor/store/convex/open"],
    ["packages/unknown/src/x.ts", "zod"],
  ];
  test.each(refused)("%s may not import %s", (path, specifier) => {
    expect(check(path, `import { x } from "${specifier}";`)).toHaveLength(1);
  });
});

describe("every way to name a module is seen", () => {
  const path = "packages/core/src/x.ts";
  const ways = [
    'import "node:fs";',
    "import fs from 'node:fs';",
    'import type { Stats } from "node:fs";',
    'import {\n  a, // a comment\n  b,\n} from "node:fs";',
    'export * from "node:fs";',
    'export { a } from "node:fs";',
    'const fs = await import("node:fs");',
    'const fs = require("node:fs");',
    'const text = `a ${await import("node:fs")} b`;',
    'const quote = /["\']/; import "node:fs";',
    'const half = a / b; import "node:fs"; const c = d / e;',
    'const brace = `${{ a: `}` }}`; import "node:fs";',
    "const p = <p>don't</p>;\nimport 'node:fs';",
  ];
  test.each(ways)("%s", (text) => {
    expect(check(path, text)).toHaveLength(1);
  });

  const notImports = [
    '// import "node:fs";',
    '/* import fs from "node:fs"; */',
    "const text = 'import \"node:fs\"';",
    'const text = `import "node:fs"`;',
    'const list = Array.from("node:fs");',
    String.raw`const escaped = "\" import 'node:fs'";`,
  ];
  test.each(notImports)("not an import: %s", (text) => {
    expect(check(path, text)).toEqual([]);
  });
});

describe("names core may not use", () => {
  const uses = [
    "await fetch(url)",
    "globalThis.fetch(url)",
    "process.exit(1)",
    "Date.now()",
    "new Date()",
    "Math.random()",
    "crypto.randomUUID()",
    "performance.now()",
    "Bun.sleep(1)",
    "`${Date.now()}`",
  ];
  test.each(uses)("%s", (text) => {
    expect(check("packages/core/src/x.ts", `const x = ${text};`)).toHaveLength(1);
    expect(check("packages/core/src/x.test.ts", `const x = ${text};`)).toEqual([]);
    expect(check("packages/store/src/x.ts", `const x = ${text};`)).toEqual([]);
  });

  const fine = [
    "ports.fetch(url)",
    "new Date(at)",
    "clock.now()",
    '"fetch"',
    "{ process: 1 }",
    "1 /* fetch */",
    "prefetch",
  ];
  test.each(fine)("%s is fine", (text) => {
    expect(check("packages/core/src/x.ts", `const x = ${text};`)).toEqual([]);
  });
});

describe("the environment", () => {
  test.each(["process.env.PORT", 'Bun.env["PORT"]', "import.meta.env.PORT"])("%s is read in few files only", (text) => {
    const readers = [
      "apps/server/src/env.ts",
      "apps/server/src/main.ts",
      "scripts/up.ts",
      "e2e/boot.ts",
      "apps/server/src/app.test.ts",
    ];
    for (const path of readers) expect(check(path, text)).toEqual([]);
    expect(check("apps/server/src/app.ts", text)).toHaveLength(1);
    expect(check("packages/store/src/sqlite/open.ts", text)).toHaveLength(1);
  });
});

describe("file names", () => {
  test.each([
    "apps/web/src/taskList.tsx",
    "packages/core/src/Tasks/run.ts",
    "scripts/check_all.ts",
    "convex/run-task.ts",
    "convex/runTask.ts",
  ])("%s is refused", (path) => {
    expect(check(path, "")).toHaveLength(1);
  });
  test.each([
    "apps/web/vite.config.ts",
    "packages/core/src/calls/gate-call.test.ts",
    "convex/tasks.ts",
    "convex/lib/one.test.ts",
  ])("%s is fine", (path) => {
    expect(check(path, "")).toEqual([]);
  });
});

test("a violation says where it is and why", () => {
  expect(check("packages/core/src/x.ts", '\n\nimport "hono";')).toEqual([
    'packages/core/src/x.ts:3: imports "hono": core may import nothing from npm',
  ]);
});
