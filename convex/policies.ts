/** Rules of a workspace. */
import { reads, writes } from "@executor/core/store/verbs/index";
import { serviceMutation, serviceQuery } from "./service.ts";

export const createPolicy = serviceMutation(writes.createPolicy);
export const deletePolicy = serviceMutation(writes.deletePolicy);

export const listPolicies = serviceQuery(reads.listPolicies);
