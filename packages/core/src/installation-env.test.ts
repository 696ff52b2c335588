import { expect, test } from "bun:test";
import { defaultLimits, limitTable, type LimitName } from "@executor/contracts/limits";
import { EnvironmentError, limitVariable, readInstallation } from "./installation-env.ts";

const read = (env: Record<string, string>) => readInstallation(env, "linux", "/home/ann");

test("with nothing set, data lies under the user's home in an SQLite file, with the limits of the table", () => {
  expect(read({})).toEqual({
    home: "/home/ann/.local/share/executor",
    runDir: "/home/ann/.local/state/executor/run",
    store: { kind: "sqlite", path: "/home/ann/.local/share/executor/executor.db" },
    limits: defaultLimits,
  });
});

test("macOS and Windows have their usual places", () => {
  expect(readInstallation({}, "darwin", "/Users/ann").home).toBe("/Users/ann/Library/Application Support/executor");
  expect(readInstallation({}, "win32", "C:\\Users\\ann").home).toBe("C:\\Users\\ann\\AppData\\Local\\executor");
  expect(readInstallation({ LOCALAPPDATA: "D:\\Local" }, "win32", "C:\\Users\\ann").home).toBe("D:\\Local\\executor");
});

test("EXECUTOR_HOME moves everything, and must be absolute", () => {
  expect(read({ EXECUTOR_HOME: "/srv/x/" })).toMatchObject({
    home: "/srv/x",
    runDir: "/srv/x/run",
    store: { path: "/srv/x/executor.db" },
  });
  expect(read({ EXECUTOR_HOME: "~/x" }).home).toBe("/home/ann/x");
  expect(() => read({ EXECUTOR_HOME: "x" })).toThrow(/EXECUTOR_HOME/);
});

test("CONVEX_URL chooses Convex and needs its service token", () => {
  expect(read({ CONVEX_URL: "https://a.convex.cloud", EXECUTOR_CONVEX_SERVICE_TOKEN: "t" }).store).toEqual({
    kind: "convex",
    url: "https://a.convex.cloud",
    serviceToken: "t",
  });
  expect(() => read({ CONVEX_URL: "https://a.convex.cloud" })).toThrow(/EXECUTOR_CONVEX_SERVICE_TOKEN/);
  expect(() => read({ CONVEX_URL: "a", EXECUTOR_CONVEX_SERVICE_TOKEN: "t" })).toThrow(/CONVEX_URL/);
});

test("every limit has a variable, which obeys the table's bounds", () => {
  for (const name of Object.keys(limitTable) as LimitName[]) {
    const { min, max } = limitTable[name];
    expect(read({ [limitVariable(name)]: String(min) }).limits[name]).toBe(min);
    expect(read({ [limitVariable(name)]: String(max) }).limits[name]).toBe(max);
    for (const bad of [String(min - 1), String(max + 1), "many", "1e3", "-5", "1.5"]) {
      expect(() => read({ [limitVariable(name)]: bad })).toThrow(limitVariable(name));
    }
  }
  expect(limitVariable("runMs")).toBe("EXECUTOR_LIMIT_RUN_MS");
});

test("a limit that does not exist is refused, and an empty variable is as good as none", () => {
  expect(() => read({ EXECUTOR_LIMIT_RUNMS: "1000" })).toThrow(EnvironmentError);
  expect(read({ EXECUTOR_LIMIT_RUN_MS: " ", EXECUTOR_HOME: "", CONVEX_URL: "" })).toEqual(read({}));
});
