/** What the run of a task writes, and what the next run reads of it. */
import { reads, writes } from "@executor/core/store/verbs/index";
import { serviceMutation, serviceQuery } from "./service.ts";

export const recordProgress = serviceMutation(writes.recordProgress);
export const pauseTask = serviceMutation(writes.pauseTask);
export const settleTask = serviceMutation(writes.settleTask);
export const recordLateOutcome = serviceMutation(writes.recordLateOutcome);
export const openGuestLink = serviceMutation(writes.openGuestLink);
export const sendFromGuest = serviceMutation(writes.sendFromGuest);
export const answerGuest = serviceMutation(writes.answerGuest);
export const dropGuestText = serviceMutation(writes.dropGuestText);
export const closeGuestLink = serviceMutation(writes.closeGuestLink);

export const listCalls = serviceQuery(reads.listCalls);
export const readJournal = serviceQuery(reads.readJournal);
export const checkGuest = serviceQuery(reads.checkGuest);
export const listExpiredGuestLinks = serviceQuery(reads.listExpiredGuestLinks);
export const readForGuest = serviceQuery(reads.readForGuest);
export const readFromGuest = serviceQuery(reads.readFromGuest);
