/** What the run of a task writes, and what the next run reads of it. */
import { reads, writes } from "@executor/core/store/verbs/index";
import { serviceMutation, serviceQuery } from "./service.ts";

export const recordProgress = serviceMutation(writes.recordProgress);
export const pauseTask = serviceMutation(writes.pauseTask);
export const settleTask = serviceMutation(writes.settleTask);
export const recordLateOutcome = serviceMutation(writes.recordLateOutcome);

export const listCalls = serviceQuery(reads.listCalls);
export const readJournal = serviceQuery(reads.readJournal);
