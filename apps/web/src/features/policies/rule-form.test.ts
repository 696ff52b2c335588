import { expect, test } from "bun:test";
import { emptyRule, sayConditions, toPolicy } from "./rule-form.ts";

const rule = (change: object) => toPolicy({ ...emptyRule, toolPathPattern: "a.*", ...change });

test("a rule takes what is given and nothing else", () => {
  expect(rule({})).toEqual({ policy: { toolPathPattern: "a.*", decision: "require_approval" } });
  expect(rule({ decision: "deny", actorId: " actor_1 ", clientId: "client_1", priority: "-5" })).toEqual({
    policy: { toolPathPattern: "a.*", decision: "deny", actorId: "actor_1", clientId: "client_1", priority: -5 },
  });
});

test("values are read as JSON where they are, as text where they are not", () => {
  const conditions = [
    { path: "owner", op: "equals", value: "me" },
    { path: "n", op: "equals", value: "5" },
    { path: "quoted", op: "equals", value: '"5"' },
    { path: "kind", op: "in", value: "a, b, 3" },
    { path: "list", op: "in", value: '["x, y"]' },
    { path: "name", op: "matches", value: "5*" },
    { path: "amount", op: "less", value: "10" },
  ];
  const made = rule({ conditions }) as { policy: { conditions: { value: unknown }[] } };
  expect(made.policy.conditions.map(({ value }) => value)).toEqual(["me", 5, "5", ["a", "b", 3], ["x, y"], "5*", 10]);
});

test("what cannot be meant is said", () => {
  for (const wrong of [
    { toolPathPattern: " " },
    { toolPathPattern: "two words" },
    { priority: "high" },
    { conditions: [{ path: "", op: "equals", value: "1" }] },
    { conditions: [{ path: "a", op: "less", value: "many" }] },
    { conditions: [{ path: "a", op: "equals", value: "{}" }] },
  ])
    expect(rule(wrong)).toEqual({ problem: expect.any(String) as string });
});

test("conditions in words", () => {
  expect(sayConditions([])).toBe("");
  expect(
    sayConditions([
      { path: "owner", op: "equals", value: "me" },
      { path: "amount", op: "less", value: 5 },
    ]),
  ).toBe('when owner is "me" and amount is less than 5');
});
