/** Where tools come from, and the stored indexes of what they offer. */
import { reads, writes } from "@executor/core/store/verbs/index";
import { serviceMutation, serviceQuery } from "./service.ts";

export const createSource = serviceMutation(writes.createSource);
export const saveEnvSources = serviceMutation(writes.saveEnvSources);
export const updateSource = serviceMutation(writes.updateSource);
export const deleteSource = serviceMutation(writes.deleteSource);
export const requestIndexing = serviceMutation(writes.requestIndexing);
export const claimIndexing = serviceMutation(writes.claimIndexing);
export const reportIndexing = serviceMutation(writes.reportIndexing);
export const finishIndexing = serviceMutation(writes.finishIndexing);
export const failIndexing = serviceMutation(writes.failIndexing);
export const releaseIndexing = serviceMutation(writes.releaseIndexing);
export const putArtifactPart = serviceMutation(writes.putArtifactPart);
export const removeArtifact = serviceMutation(writes.removeArtifact);

export const listSources = serviceQuery(reads.listSources);
export const readSource = serviceQuery(reads.readSource);
export const hasDueSources = serviceQuery(reads.hasDueSources);
export const readArtifact = serviceQuery(reads.readArtifact);
export const readArtifactParts = serviceQuery(reads.readArtifactParts);
