/** A typed function the guest may call, as a caller sees it. */
import { z } from "zod";

/** safe: reads only, may be sent again. unsafe: changes something. */
export const ToolEffect = z.enum(["safe", "unsafe"]);
export type ToolEffect = z.infer<typeof ToolEffect>;

export const ToolApproval = z.enum(["auto", "required"]);
export type ToolApproval = z.infer<typeof ToolApproval>;

export const JsonSchema = z.record(z.string(), z.unknown());
export type JsonSchema = z.infer<typeof JsonSchema>;

export const ToolSummary = z
  .object({
    path: z.string(),
    source: z.string(),
    approval: ToolApproval,
    description: z.string(),
    signature: z.string(),
  })
  .meta({ id: "ToolSummary" });
export type ToolSummary = z.infer<typeof ToolSummary>;

/** All that a tree of thousands of tools needs; nothing of their schemas is read for it. */
export const ToolName = z
  .object({ path: z.string(), approval: ToolApproval, effect: ToolEffect })
  .meta({ id: "ToolName" });
export type ToolName = z.infer<typeof ToolName>;

export const ToolDetail = ToolSummary.extend({
  effect: ToolEffect,
  inputSchema: JsonSchema.optional(),
  outputSchema: JsonSchema.optional(),
}).meta({ id: "ToolDetail" });
export type ToolDetail = z.infer<typeof ToolDetail>;

export const RuntimeTarget = z
  .object({
    id: z.string(),
    label: z.string(),
    description: z.string(),
    available: z.boolean(),
    reason: z.string().optional(),
    /** What keeps a guest inside here. */
    confinement: z.string().optional(),
  })
  .meta({ id: "RuntimeTarget" });
export type RuntimeTarget = z.infer<typeof RuntimeTarget>;
