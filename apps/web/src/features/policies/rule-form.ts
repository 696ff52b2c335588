/** A rule as it is typed, as the API takes it, and in words. Pure. */
import type { CreatePolicy, Policy, PolicyCondition, PolicyDecision } from "@executor/client";

type Op = PolicyCondition["op"];

export interface ConditionForm {
  path: string;
  op: Op;
  /** As typed: JSON where it is JSON, else text. */
  value: string;
}

export interface RuleForm {
  toolPathPattern: string;
  decision: PolicyDecision;
  actorId: string;
  clientId: string;
  priority: string;
  conditions: ConditionForm[];
}

export const emptyRule: RuleForm = {
  toolPathPattern: "",
  decision: "require_approval",
  actorId: "",
  clientId: "",
  priority: "",
  conditions: [],
};

export const OPS: Record<Op, string> = {
  equals: "is",
  in: "is one of",
  matches: "matches",
  less: "is less than",
  greater: "is greater than",
};

export const DECISIONS: Record<PolicyDecision, { label: string; says: string; tone: "ok" | "warn" | "bad" }> = {
  allow: { label: "allow", says: "run without asking", tone: "ok" },
  require_approval: { label: "ask", says: "ask a person", tone: "warn" },
  deny: { label: "deny", says: "are refused", tone: "bad" },
};

/** The rule, or what is wrong with it. */
export function toPolicy(form: RuleForm): { policy: Omit<CreatePolicy, "workspaceId"> } | { problem: string } {
  const toolPathPattern = form.toolPathPattern.trim();
  if (toolPathPattern === "" || /\s/.test(toolPathPattern))
    return { problem: "Say which tools: a path such as github.issues.create, with * for any characters." };
  if (form.priority.trim() !== "" && !/^-?\d{1,7}$/.test(form.priority.trim()))
    return { problem: "The priority must be a whole number." };
  const conditions: PolicyCondition[] = [];
  for (const [at, condition] of form.conditions.entries()) {
    const read = readCondition(condition);
    if (typeof read === "string") return { problem: `Condition ${at + 1}: ${read}` };
    conditions.push(read);
  }
  return {
    policy: {
      toolPathPattern,
      decision: form.decision,
      ...(form.actorId.trim() !== "" && { actorId: form.actorId.trim() }),
      ...(form.clientId.trim() !== "" && { clientId: form.clientId.trim() }),
      ...(form.priority.trim() !== "" && { priority: Number(form.priority) }),
      ...(conditions.length > 0 && { conditions }),
    },
  };
}

function readCondition({ path, op, value }: ConditionForm): PolicyCondition | string {
  const at = path.trim();
  if (at === "") return "say which value of the input, as a path with dots.";
  if (op === "matches") return { path: at, op, value };
  const parsed = readValue(value);
  if (op === "less" || op === "greater")
    return typeof parsed === "number" ? { path: at, op, value: parsed } : "needs a number.";
  if (op === "equals")
    return isScalar(parsed) ? { path: at, op, value: parsed } : "needs one text, number, true, false or null.";
  const list = Array.isArray(parsed) ? parsed : value.split(",").map((each) => readValue(each.trim()));
  return list.every(isScalar) ? { path: at, op, value: list } : "needs texts or numbers, with commas between.";
}

type Scalar = string | number | boolean | null;
const isScalar = (value: unknown): value is Scalar =>
  value === null || ["string", "number", "boolean"].includes(typeof value);

function readValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** `when owner is "me" and amount is less than 5`; empty without conditions. */
export const sayConditions = (conditions: Policy["conditions"] = []): string =>
  conditions.length === 0
    ? ""
    : `when ${conditions.map(({ path, op, value }) => `${path} ${OPS[op]} ${JSON.stringify(value)}`).join(" and ")}`;
