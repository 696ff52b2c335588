/** Tasks: submitting, cancelling, reading. */
import { reads, writes } from "@executor/core/store/verbs/index";
import { serviceMutation, serviceQuery } from "./service.ts";

export const createTask = serviceMutation(writes.createTask);
export const cancelTask = serviceMutation(writes.cancelTask);

export const readTask = serviceQuery(reads.readTask);
export const readTaskStatus = serviceQuery(reads.readTaskStatus);
export const listTasks = serviceQuery(reads.listTasks);
export const findTask = serviceQuery(reads.findTask);
