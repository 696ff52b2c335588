/** The event log, by task and by workspace. */
import { reads } from "@executor/core/store/verbs/index";
import { serviceQuery } from "./service.ts";

export const readTaskEvents = serviceQuery(reads.readTaskEvents);
export const readWorkspaceEvents = serviceQuery(reads.readWorkspaceEvents);
