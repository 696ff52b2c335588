/** Workspaces, bearers, single-use codes, and sessions of MCP clients. */
import { reads, writes } from "@executor/core/store/verbs/index";
import { serviceMutation, serviceQuery } from "./service.ts";

export const createWorkspace = serviceMutation(writes.createWorkspace);
export const createBearer = serviceMutation(writes.createBearer);
export const touchBearer = serviceMutation(writes.touchBearer);
export const revokeBearer = serviceMutation(writes.revokeBearer);
export const createCode = serviceMutation(writes.createCode);
export const redeemCode = serviceMutation(writes.redeemCode);
export const openMcpSession = serviceMutation(writes.openMcpSession);
export const touchMcpSession = serviceMutation(writes.touchMcpSession);
export const closeMcpSession = serviceMutation(writes.closeMcpSession);

export const readWorkspace = serviceQuery(reads.readWorkspace);
export const findBearer = serviceQuery(reads.findBearer);
export const listKeys = serviceQuery(reads.listKeys);
export const readMcpSession = serviceQuery(reads.readMcpSession);
