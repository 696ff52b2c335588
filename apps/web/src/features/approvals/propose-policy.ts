/**
 * The rule that "always allow" proposes, as narrow as the call itself: this tool, this actor, and every plain value of the
 * input as a condition. The person takes conditions away; nothing widens by itself.
 */
import type { Approval, PolicyCondition } from "@executor/client";

type Plain = string | number | boolean | null;
export interface Proposed {
  path: string;
  value: Plain;
}

const MAX_CONDITIONS = 20;
const MAX_LENGTH = 200;

/** Top-level plain values; a name with a dot would be read as a path into the input. */
export function proposeConditions({ input }: Pick<Approval, "input">): Proposed[] {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return [];
  return Object.entries(input)
    .filter((entry): entry is [string, Plain] => isPlain(entry[1]) && entry[0] !== "" && !entry[0].includes("."))
    .filter(([path]) => path.length <= MAX_LENGTH)
    .slice(0, MAX_CONDITIONS)
    .map(([path, value]) => ({ path, value }));
}

export const toConditions = (proposed: readonly Proposed[]): PolicyCondition[] =>
  proposed.map(({ path, value }) => ({ path, op: "equals", value }));

/** A path with a star would match other tools; the server refuses to remember it. */
export const canRemember = ({ toolPath }: Pick<Approval, "toolPath">): boolean =>
  !toolPath.includes("*") && !/\s/.test(toolPath);

const isPlain = (value: unknown): value is Plain =>
  value === null ||
  typeof value === "number" ||
  typeof value === "boolean" ||
  (typeof value === "string" && value.length <= MAX_LENGTH);
