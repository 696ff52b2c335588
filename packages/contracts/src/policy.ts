/** A rule on tool paths. Deny beats require_approval beats allow, whatever is more specific. */
import { z } from "zod";
import { Id, Timestamp } from "./id.ts";

export const PolicyDecision = z.enum(["allow", "require_approval", "deny"]);
export type PolicyDecision = z.infer<typeof PolicyDecision>;

/** `*` matches any characters, dots included. */
export const ToolPathPattern = z
  .string()
  .min(1)
  .max(500)
  .regex(/^[^\s\u0000-\u001f]+$/, "no white space");

export const PolicyCondition = z
  .discriminatedUnion("op", [
    z.strictObject({
      path: z.string().min(1).max(200),
      op: z.literal("equals"),
      value: z.union([z.string(), z.number(), z.boolean(), z.null()]),
    }),
    z.strictObject({
      path: z.string().min(1).max(200),
      op: z.literal("in"),
      value: z.array(z.union([z.string(), z.number(), z.boolean(), z.null()])).max(1_000),
    }),
    z.strictObject({
      path: z.string().min(1).max(200),
      op: z.literal("matches"),
      value: z.string().max(500).describe("`*` matches any characters"),
    }),
    z.strictObject({ path: z.string().min(1).max(200), op: z.literal("less"), value: z.number() }),
    z.strictObject({ path: z.string().min(1).max(200), op: z.literal("greater"), value: z.number() }),
  ])
  .meta({ id: "PolicyCondition", description: "a test of one value in the call's input, found by a dotted path" });
export type PolicyCondition = z.infer<typeof PolicyCondition>;

const rule = {
  toolPathPattern: ToolPathPattern,
  decision: PolicyDecision,
  actorId: Id.optional(),
  clientId: Id.optional(),
  conditions: z.array(PolicyCondition).max(20).optional().describe("all must hold"),
  priority: z.int().min(-1_000_000).max(1_000_000).optional(),
};

export const CreatePolicy = z.strictObject({ workspaceId: Id, ...rule }).meta({ id: "CreatePolicy" });
export type CreatePolicy = z.infer<typeof CreatePolicy>;

export const Policy = z
  .object({ policyId: Id, workspaceId: Id, ...rule, createdAt: Timestamp, createdBy: Id })
  .meta({ id: "Policy" });
export type Policy = z.infer<typeof Policy>;

export const TestPolicy = z
  .strictObject({
    workspaceId: Id,
    toolPath: z.string().min(1).max(500),
    actorId: Id.optional(),
    clientId: Id.optional(),
    input: z.unknown().optional(),
  })
  .meta({ id: "TestPolicy" });
export type TestPolicy = z.infer<typeof TestPolicy>;

export const PolicyTestResult = z
  .object({
    decision: PolicyDecision,
    why: z.string(),
    /** Absent when no rule matched and the tool's default decides. */
    policyId: Id.optional(),
    /** All rules that match, the one that decides first. */
    matched: z.array(Id),
    toolFound: z.boolean(),
  })
  .meta({ id: "PolicyTestResult" });
export type PolicyTestResult = z.infer<typeof PolicyTestResult>;
