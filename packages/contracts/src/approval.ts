/** A person's yes or no to one call. Bound to the task, the call, the tool's schema and the exact input; used once. */
import { z } from "zod";
import { Id, Timestamp } from "./id.ts";
import { PolicyCondition, ToolPathPattern } from "./policy.ts";
import { TaskSummary } from "./task.ts";

export const ApprovalStatus = z.enum(["pending", "approved", "denied", "cancelled", "expired"]);
export type ApprovalStatus = z.infer<typeof ApprovalStatus>;

export const Approval = z
  .object({
    approvalId: Id,
    taskId: Id,
    callId: Id,
    toolPath: z.string(),
    input: z.unknown(),
    inputDigest: z.string().describe("SHA-256 of the canonical input the approval is bound to"),
    status: ApprovalStatus,
    reason: z.string().optional(),
    reviewerId: Id.optional(),
    why: z.string().describe("which rule asks"),
    line: z.int().positive().optional().describe("the line of the code that made the call, when its stack told"),
    mayHaveRun: z.boolean().describe("a crash left it unknown whether this call already happened"),
    createdAt: Timestamp,
    expiresAt: Timestamp,
    resolvedAt: Timestamp.optional(),
    task: TaskSummary.optional(),
  })
  .meta({ id: "Approval" });
export type Approval = z.infer<typeof Approval>;

export const DecideApproval = z
  .strictObject({
    workspaceId: Id,
    decision: z.enum(["approved", "denied"]),
    reason: z.string().max(2_000).optional(),
    /** Also writes a policy with the same answer (admin only): `true` for exactly this tool path. */
    remember: z
      .union([
        z.literal(true),
        z.strictObject({
          toolPathPattern: ToolPathPattern.optional(),
          actorId: Id.optional(),
          clientId: Id.optional(),
          conditions: z.array(PolicyCondition).max(20).optional(),
        }),
      ])
      .optional(),
  })
  .meta({ id: "DecideApproval" });
export type DecideApproval = z.infer<typeof DecideApproval>;
