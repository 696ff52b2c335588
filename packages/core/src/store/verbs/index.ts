/**
 * The store, told once: every verb, as a function of a transaction and plain data. `writes` change something, `reads` do not.
 * A store implements Tx and runs these; the port in ports/store.ts is derived from this list.
 */
import { cancelTask } from "./cancel-task.ts";
import { claimTask, peekQueue, recoverLeases, releaseTask, removeWorker, renewLeases } from "./claim-task.ts";
import { createTask } from "./create-task.ts";
import {
  createBearer,
  createCode,
  createWorkspace,
  findBearer,
  listKeys,
  redeemCode,
  revokeBearer,
  touchBearer,
} from "./identity.ts";
import { decideApproval, expireInteractions, resolveInteraction } from "./interactions.ts";
import { createPolicy, deletePolicy, listPolicies } from "./policies.ts";
import {
  countWorkers,
  listAudit,
  listCalls,
  listInteractions,
  listTasks,
  readInteraction,
  readJournal,
  readTask,
  readTaskEvents,
  readTaskStatus,
  readWorkspace,
  readWorkspaceEvents,
} from "./reads.ts";
import { pauseTask, recordLateOutcome, recordProgress, settleTask } from "./run-task.ts";

export const writes = {
  createWorkspace,
  createBearer,
  touchBearer,
  revokeBearer,
  createCode,
  redeemCode,
  createTask,
  claimTask,
  renewLeases,
  recoverLeases,
  releaseTask,
  removeWorker,
  recordProgress,
  pauseTask,
  settleTask,
  recordLateOutcome,
  cancelTask,
  decideApproval,
  resolveInteraction,
  expireInteractions,
  createPolicy,
  deletePolicy,
};

export const reads = {
  findBearer,
  listKeys,
  peekQueue,
  readTask,
  readTaskStatus,
  listTasks,
  listCalls,
  readJournal,
  readInteraction,
  listInteractions,
  listPolicies,
  readTaskEvents,
  readWorkspaceEvents,
  readWorkspace,
  listAudit,
  countWorkers,
};
