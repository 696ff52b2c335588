import { describe, expect, test } from "bun:test";
import type { Approval } from "@executor/client";
import { findLines } from "./find-lines.ts";
import { groupApprovals, isGroup } from "./group.ts";
import { canRemember, proposeConditions } from "./propose-policy.ts";

const approval = (id: string, toolPath = "a.b", extra: Partial<Approval> = {}): Approval => ({
  approvalId: id,
  taskId: "task_1",
  callId: `call_${id}`,
  toolPath,
  input: {},
  inputDigest: "",
  status: "pending",
  why: "",
  mayHaveRun: false,
  createdAt: "2026-01-01T00:00:00.000Z",
  expiresAt: "2026-01-02T00:00:00.000Z",
  ...extra,
});

describe("the rule that is proposed", () => {
  test("holds every plain value of the input", () => {
    const input = { owner: "acme", repo: "shop", draft: false, count: 3, none: null };
    expect(proposeConditions({ input })).toEqual(Object.entries(input).map(([path, value]) => ({ path, value })));
  });

  test("leaves out what cannot be a condition", () => {
    expect(proposeConditions({ input: { "a.b": 1, list: [1], nested: { x: 1 }, long: "x".repeat(500) } })).toEqual([]);
    for (const input of [null, "text", 3, [1, 2], undefined]) expect(proposeConditions({ input })).toEqual([]);
  });

  test("is not offered for a path that would match other tools", () => {
    expect([canRemember({ toolPath: "a.b" }), canRemember({ toolPath: "a.*" })]).toEqual([true, false]);
  });
});

describe("alike approvals", () => {
  const none = new Set<string>();
  test("are one row when there are many, and stay in the order of the oldest", () => {
    const rows = groupApprovals(
      [approval("1", "x.y"), approval("2"), approval("3"), approval("4"), approval("5", "x.y")],
      none,
    );
    expect(rows.map((row) => [isGroup(row), row.approvals.map(({ approvalId }) => approvalId)])).toEqual([
      [false, ["1"]],
      [false, ["5"]],
      [true, ["2", "3", "4"]],
    ]);
  });

  test("of different actors are never one row", () => {
    const by = (id: string, actorId: string) =>
      approval(id, "a.b", { task: { actorId } as NonNullable<Approval["task"]> });
    expect(groupApprovals([by("1", "x"), by("2", "y"), by("3", "x"), by("4", "y")], none)).toHaveLength(4);
  });

  test("that may have happened already stand alone", () => {
    const rows = groupApprovals(
      [approval("1"), approval("2"), approval("3"), approval("4", "a.b", { mayHaveRun: true })],
      none,
    );
    expect(rows.map(({ approvals }) => approvals.length)).toEqual([3, 1]);
  });

  test("of an opened group follow it", () => {
    const all = [approval("1"), approval("2"), approval("3")];
    const [group] = groupApprovals(all, none);
    expect(groupApprovals(all, new Set([group?.key ?? ""])).map(({ key }) => key)).toEqual([
      group?.key ?? "",
      "1",
      "2",
      "3",
    ]);
  });
});

describe("the lines that may have made a call", () => {
  test("are those that name the tool", () => {
    expect(findLines("const a = 1;\nawait tools.github\n  .issues.create({})", "github.issues.create")).toEqual([2]);
    expect(findLines("tools.a.b(1);\ntools.a.b(2)", "a.b")).toEqual([1, 2]);
    expect(findLines("tools.a.bc(1)", "a.b")).toEqual([]);
  });
});
