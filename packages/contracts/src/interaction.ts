/** Anything a task waits for a person to do. An approval is one of them, with its own shape in approval.ts. */
import { z } from "zod";
import { Id, Timestamp } from "./id.ts";

export const InteractionKind = z.enum(["approval", "credential", "oauth", "elicitation", "question"]);
export type InteractionKind = z.infer<typeof InteractionKind>;

export const InteractionStatus = z.enum(["pending", "approved", "denied", "resolved", "cancelled", "expired"]);
export type InteractionStatus = z.infer<typeof InteractionStatus>;

export const Interaction = z
  .object({
    interactionId: Id,
    kind: InteractionKind,
    taskId: Id.optional(),
    callId: Id.optional(),
    toolPath: z.string().optional(),
    /** The line of the code that made the call. */
    line: z.int().positive().optional(),
    status: InteractionStatus,
    title: z.string(),
    detail: z.string(),
    /** JSON Schema of the answer. */
    schema: z.record(z.string(), z.unknown()).optional(),
    url: z.string().optional(),
    answer: z.unknown().optional(),
    reason: z.string().optional(),
    reviewerId: Id.optional(),
    createdAt: Timestamp,
    expiresAt: Timestamp,
    resolvedAt: Timestamp.optional(),
  })
  .meta({ id: "Interaction" });
export type Interaction = z.infer<typeof Interaction>;

export const ResolveInteraction = z
  .strictObject({
    workspaceId: Id,
    /** What the person answers; it must fit the interaction's schema. */
    answer: z.unknown().optional(),
    /** The person will not answer: the code gets `approval.denied`. */
    decline: z.boolean().optional(),
    reason: z.string().max(2_000).optional(),
  })
  .refine((body) => body.decline === true || body.answer !== undefined, "answer or decline is required")
  .meta({ id: "ResolveInteraction" });
export type ResolveInteraction = z.infer<typeof ResolveInteraction>;
