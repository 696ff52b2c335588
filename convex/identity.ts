/** Workspaces, bearers and single-use codes. */
import { reads, writes } from "@executor/core/store/verbs/index";
import { serviceMutation, serviceQuery } from "./service.ts";

export const createWorkspace = serviceMutation(writes.createWorkspace);
export const createBearer = serviceMutation(writes.createBearer);
export const touchBearer = serviceMutation(writes.touchBearer);
export const revokeBearer = serviceMutation(writes.revokeBearer);
export const createCode = serviceMutation(writes.createCode);
export const redeemCode = serviceMutation(writes.redeemCode);

export const readWorkspace = serviceQuery(reads.readWorkspace);
export const findBearer = serviceQuery(reads.findBearer);
export const listKeys = serviceQuery(reads.listKeys);
