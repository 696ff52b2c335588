/** The audit log. */
import { reads } from "@executor/core/store/verbs/index";
import { serviceQuery } from "./service.ts";

export const listAudit = serviceQuery(reads.listAudit);
