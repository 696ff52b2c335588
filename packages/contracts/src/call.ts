/** One tool call of a task, as the journal knows it. */
import { z } from "zod";
import { Id, Timestamp } from "./id.ts";

/** requested: made by the code; waiting: for a person; sent: left for the tool (after a crash: outcome unknown). */
export const CallStatus = z.enum(["requested", "waiting", "sent", "completed", "failed", "denied", "cancelled"]);
export type CallStatus = z.infer<typeof CallStatus>;

export const Call = z
  .object({
    callId: Id,
    taskId: Id,
    ordinal: z.int().describe("the how-manieth call of the code, from 0"),
    toolPath: z.string(),
    input: z.unknown(),
    inputBytes: z.int(),
    status: CallStatus,
    output: z.unknown().optional(),
    outputBytes: z.int().optional(),
    truncated: z.boolean().describe("input or output is too long to show here and left out"),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
    approvalId: Id.optional(),
    sends: z.int().describe("how often it was sent"),
    requestedAt: Timestamp,
    sentAt: Timestamp.optional(),
    finishedAt: Timestamp.optional(),
  })
  .meta({ id: "Call" });
export type Call = z.infer<typeof Call>;
