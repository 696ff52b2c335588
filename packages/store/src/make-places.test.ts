import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makePlaces } from "./make-places.ts";

test("directories are made for their owner only, and what cannot be made is named", () => {
  const dir = mkdtempSync(join(tmpdir(), "executor-places-"));
  const home = join(dir, "deep", "home");
  makePlaces({ home, runDir: join(home, "run") });
  expect(statSync(home).mode & 0o777).toBe(0o700);
  expect(statSync(join(home, "run")).mode & 0o777).toBe(0o700);
  writeFileSync(join(dir, "file"), "");
  expect(() => makePlaces({ home: join(dir, "file", "home"), runDir: dir })).toThrow("EXECUTOR_HOME");
  rmSync(dir, { recursive: true });
});
