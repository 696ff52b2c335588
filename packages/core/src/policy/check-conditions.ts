/** Whether a call's input fulfils all conditions of a policy. A value that is not there, or of another type, fulfils none. */
import type { PolicyCondition } from "@executor/contracts/policy";
import { matchesPattern } from "./match-pattern.ts";

export function conditionsHold(conditions: readonly PolicyCondition[], input: unknown): boolean {
  return conditions.every((condition) => holds(condition, valueAt(input, condition.path)));
}

function holds(condition: PolicyCondition, value: unknown): boolean {
  switch (condition.op) {
    case "equals":
      return value === condition.value;
    case "in":
      return condition.value.includes(value as never);
    case "matches":
      return typeof value === "string" && matchesPattern(condition.value, value);
    case "less":
      return typeof value === "number" && value < condition.value;
    case "greater":
      return typeof value === "number" && value > condition.value;
  }
}

/** `a.b.0`: own properties only, so `constructor` is nothing special. */
function valueAt(input: unknown, path: string): unknown {
  let value = input;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
