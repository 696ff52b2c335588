import { expect, test } from "bun:test";
import type { ToolName } from "@executor/client";
import { buildTree, type Row } from "./build-tree.ts";

const tool = (path: string): ToolName => ({ path, approval: "auto", effect: "safe" });
const TOOLS = ["gh.issues.list", "gh.issues.create", "gh.pulls.merge", "gh.ping"].map(tool);
const show = (rows: Row[]): string[] =>
  rows.map((row) => `${"  ".repeat(row.depth)}${row.kind === "group" ? `${row.label} (${row.count})` : row.label}`);

test("groups come first, closed; what is open shows its tools in order", () => {
  expect(show(buildTree(TOOLS, () => false))).toEqual(["issues (2)", "pulls (1)", "ping"]);
  expect(show(buildTree(TOOLS, (path) => path === "issues"))).toEqual([
    "issues (2)",
    "  create",
    "  list",
    "pulls (1)",
    "ping",
  ]);
});

test("a filter keeps paths that hold all of its words, with their groups open", () => {
  expect(show(buildTree(TOOLS, () => false, "issues CREATE"))).toEqual(["issues (1)", "  create"]);
  expect(show(buildTree(TOOLS, () => false, "pulls.merge"))).toEqual(["pulls (1)", "  merge"]);
  expect(buildTree(TOOLS, () => false, "nothing")).toEqual([]);
});

test("names that objects have by themselves are names like others", () => {
  const rows = buildTree([tool("x.__proto__.constructor"), tool("x.toString")], () => true);
  expect(show(rows)).toEqual(["__proto__ (1)", "  constructor", "toString"]);
});

test("20,000 tools are laid out in the time of a frame or two", () => {
  const many = Array.from({ length: 20_000 }, (_, at) => tool(`big.tag${at % 200}.operation_${at}`));
  const from = performance.now();
  expect(buildTree(many, () => true)).toHaveLength(20_200);
  expect(performance.now() - from).toBeLessThan(500);
});
