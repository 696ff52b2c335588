/** Credentials, the keys that seal them, and sign-ins under way: sealed text only. */
import { reads, writes } from "@executor/core/store/verbs/index";
import { serviceMutation, serviceQuery } from "./service.ts";

export const saveCredential = serviceMutation(writes.saveCredential);
export const deleteCredential = serviceMutation(writes.deleteCredential);
export const deleteSourceCredentials = serviceMutation(writes.deleteSourceCredentials);
export const claimRefresh = serviceMutation(writes.claimRefresh);
export const finishRefresh = serviceMutation(writes.finishRefresh);
export const failRefresh = serviceMutation(writes.failRefresh);
export const createWorkspaceKey = serviceMutation(writes.createWorkspaceKey);
export const replaceWorkspaceKey = serviceMutation(writes.replaceWorkspaceKey);
export const createOauthFlow = serviceMutation(writes.createOauthFlow);
export const useOauthFlow = serviceMutation(writes.useOauthFlow);
export const saveOauthClient = serviceMutation(writes.saveOauthClient);
export const deleteOauthClient = serviceMutation(writes.deleteOauthClient);

export const listCredentials = serviceQuery(reads.listCredentials);
export const readCredential = serviceQuery(reads.readCredential);
export const findCredentials = serviceQuery(reads.findCredentials);
export const readWorkspaceKey = serviceQuery(reads.readWorkspaceKey);
export const findOauthClient = serviceQuery(reads.findOauthClient);
export const readOauthClient = serviceQuery(reads.readOauthClient);
