/** The queue, leases and workers; and a head to subscribe to. */
import { reads, writes } from "@executor/core/store/verbs/index";
import { v } from "convex/values";
import { query } from "./_generated/server.js";
import { checkToken, serviceMutation, serviceQuery } from "./service.ts";

export const claimTask = serviceMutation(writes.claimTask);
export const renewLeases = serviceMutation(writes.renewLeases);
export const recoverLeases = serviceMutation(writes.recoverLeases);
export const releaseTask = serviceMutation(writes.releaseTask);
export const removeWorker = serviceMutation(writes.removeWorker);

export const peekQueue = serviceQuery(reads.peekQueue);
export const countWorkers = serviceQuery(reads.countWorkers);

/**
 * The newest queued task, for subscriptions only: it changes when something is queued (and when that is claimed).
 * Two tasks queued in one millisecond may look like one; a hint may be lost, for workers also poll.
 */
export const queueHead = query({
  args: { token: v.string() },
  returns: v.union(v.string(), v.null()),
  handler: async (ctx, { token }) => {
    checkToken(token);
    const newest = await ctx.db
      .query("tasks")
      .withIndex("by_head", (range) => range.eq("status", "queued"))
      .order("desc")
      .first();
    return newest && `${newest.queuedAt} ${newest.taskId}`;
  },
});
