/** Approvals and other questions to people. */
import { reads, writes } from "@executor/core/store/verbs/index";
import { serviceMutation, serviceQuery } from "./service.ts";

export const decideApproval = serviceMutation(writes.decideApproval);
export const resolveInteraction = serviceMutation(writes.resolveInteraction);
export const expireInteractions = serviceMutation(writes.expireInteractions);

export const readInteraction = serviceQuery(reads.readInteraction);
export const listInteractions = serviceQuery(reads.listInteractions);
