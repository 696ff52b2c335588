/** The names this store calls, against the real modules of convex/: every verb is there, and nothing else is public. */
import { expect, test } from "bun:test";
import { reads, writes } from "@executor/core/store/verbs/index";
import { convexModules } from "@executor/testkit/convex/convex-modules";
import { functionPaths, QUEUE_HEAD } from "./function-paths.ts";

interface Registered {
  isPublic?: true;
  isQuery?: true;
  isMutation?: true;
  isAction?: true;
  isInternal?: true;
  isHttp?: true;
}

async function registered(): Promise<Map<string, Registered>> {
  const found = new Map<string, Registered>();
  for (const [path, load] of Object.entries(convexModules)) {
    const file = path.replace(/^convex\//, "").replace(/\.ts$/, "");
    for (const [name, value] of Object.entries(await load())) {
      const flags = (value ?? {}) as Registered;
      if (flags.isPublic || flags.isInternal || flags.isHttp || flags.isAction) found.set(`${file}:${name}`, flags);
    }
  }
  return found;
}

test("every file of convex/ is in the module map of the stand-in", async () => {
  const files = [...new Bun.Glob("*.ts").scanSync(`${import.meta.dir}/../../../../convex`)].filter(
    (file) => file !== "schema.ts",
  );
  const mapped = Object.keys(convexModules).filter((path) => !path.includes("_generated"));
  expect(mapped.toSorted()).toEqual(files.map((file) => `convex/${file}`).toSorted());
});

test("every verb has its function, a read as a query and a write as a mutation", async () => {
  const functions = await registered();
  for (const verb of Object.keys(reads) as (keyof typeof reads)[])
    expect(functions.get(functionPaths[verb])).toMatchObject({ isPublic: true, isQuery: true });
  for (const verb of Object.keys(writes) as (keyof typeof writes)[])
    expect(functions.get(functionPaths[verb])).toMatchObject({ isPublic: true, isMutation: true });
});

test("nothing else is registered, public or not", async () => {
  expect([...(await registered()).keys()].toSorted()).toEqual([...Object.values(functionPaths), QUEUE_HEAD].toSorted());
});
