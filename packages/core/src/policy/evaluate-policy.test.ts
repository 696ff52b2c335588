import { describe, expect, test } from "bun:test";
import type { PolicyCondition } from "@executor/contracts/policy";
import type { PolicyRow } from "../store/tables.ts";
import { evaluatePolicy, orderPolicies } from "./evaluate-policy.ts";

const fallback = { decision: "allow", why: "default" } as const;
const call = {
  toolPath: "github.issues.create",
  actorId: "actor_1",
  clientId: "client_1",
  input: { title: "x", count: 5, labels: ["a"] },
};

const policy = (
  policyId: string,
  decision: string,
  over: Partial<PolicyRow> & { conditions?: PolicyCondition[] } = {},
): PolicyRow => {
  const { conditions = [], ...rest } = over;
  return {
    policyId,
    workspaceId: "ws",
    pattern: "github.*",
    decision,
    actorId: null,
    clientId: null,
    conditionsJson: JSON.stringify(conditions),
    priority: 0,
    createdAt: 1,
    createdBy: "a",
    ...rest,
  };
};
const decide = (...policies: PolicyRow[]) => evaluatePolicy(policies, call, fallback);

describe("the order of decisions", () => {
  test("no rule: the default decides and no policy is named", () => {
    expect(decide()).toEqual({ decision: "allow", policyId: null, why: "default", matched: [] });
  });
  test("deny beats require_approval beats allow, however specific the others are", () => {
    const allow = policy("p_allow", "allow", {
      pattern: "github.issues.create",
      actorId: "actor_1",
      clientId: "client_1",
      priority: 1_000,
    });
    const ask = policy("p_ask", "require_approval", { pattern: "github.issues.create", actorId: "actor_1" });
    const deny = policy("p_deny", "deny", { pattern: "*" });
    expect(decide(allow, ask, deny)).toMatchObject({
      decision: "deny",
      policyId: "p_deny",
      matched: ["p_deny", "p_ask", "p_allow"],
    });
    expect(decide(allow, ask)).toMatchObject({ decision: "require_approval", policyId: "p_ask" });
    expect(decide(allow)).toMatchObject({ decision: "allow", policyId: "p_allow" });
  });
  test("among equals the more specific is named: actor+client, actor, client, workspace, longer prefix, priority", () => {
    const rows = [
      policy("workspace-low", "deny", { priority: 0 }),
      policy("workspace-high", "deny", { priority: 5 }),
      policy("workspace-long", "deny", { pattern: "github.issues.*" }),
      policy("client", "deny", { clientId: "client_1" }),
      policy("actor", "deny", { actorId: "actor_1" }),
      policy("both", "deny", { actorId: "actor_1", clientId: "client_1" }),
    ];
    expect(orderPolicies(rows).map((row) => row.policyId)).toEqual([
      "both",
      "actor",
      "client",
      "workspace-long",
      "workspace-high",
      "workspace-low",
    ]);
  });
  test("a rule for another actor or client does not match", () => {
    expect(decide(policy("p", "deny", { actorId: "actor_2" }))).toMatchObject({ decision: "allow", policyId: null });
    expect(decide(policy("p", "deny", { clientId: "client_2" }))).toMatchObject({ decision: "allow", policyId: null });
  });
});

describe("conditions", () => {
  const cases: [PolicyCondition, boolean][] = [
    [{ path: "title", op: "equals", value: "x" }, true],
    [{ path: "title", op: "equals", value: "y" }, false],
    [{ path: "count", op: "equals", value: 5 }, true],
    [{ path: "labels.0", op: "in", value: ["a", "b"] }, true],
    [{ path: "title", op: "matches", value: "*" }, true],
    [{ path: "title", op: "matches", value: "z*" }, false],
    [{ path: "count", op: "less", value: 6 }, true],
    [{ path: "count", op: "greater", value: 5 }, false],
    [{ path: "missing.deep", op: "equals", value: "x" }, false],
    [{ path: "constructor.name", op: "equals", value: "Object" }, false],
  ];
  for (const [condition, holds] of cases) {
    test(`${JSON.stringify(condition)} ${holds ? "holds" : "does not hold"}`, () => {
      expect(decide(policy("p", "deny", { conditions: [condition] })).decision).toBe(holds ? "deny" : "allow");
    });
  }
  test("all must hold", () => {
    const both: PolicyCondition[] = [
      { path: "title", op: "equals", value: "x" },
      { path: "count", op: "less", value: 1 },
    ];
    expect(decide(policy("p", "deny", { conditions: both })).decision).toBe("allow");
  });
  test("a rule whose conditions cannot be read fails closed: a deny holds, an allow does not", () => {
    const broken = { conditionsJson: '[{"op":"unheard"}]' };
    expect(decide({ ...policy("p", "deny"), ...broken }).decision).toBe("deny");
    expect(
      evaluatePolicy([{ ...policy("p", "allow"), ...broken }], call, { decision: "require_approval", why: "" })
        .decision,
    ).toBe("require_approval");
  });
  test("a decision nobody knows counts as deny", () => {
    expect(decide(policy("p", "maybe")).decision).toBe("deny");
  });
});
