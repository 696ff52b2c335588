/**
 * Where each verb lives in the deployment: "<file of convex/>:<export>". Names, not imports: a store may not reach into convex/.
 * function-paths.test.ts holds this against the real modules, both ways.
 */
import type { StoreVerbs } from "@executor/core/ports/store";

export const functionPaths: Record<keyof StoreVerbs, string> = {
  createTask: "tasks:createTask",
  cancelTask: "tasks:cancelTask",
  readTask: "tasks:readTask",
  readTaskStatus: "tasks:readTaskStatus",
  listTasks: "tasks:listTasks",
  claimTask: "queue:claimTask",
  renewLeases: "queue:renewLeases",
  recoverLeases: "queue:recoverLeases",
  releaseTask: "queue:releaseTask",
  removeWorker: "queue:removeWorker",
  peekQueue: "queue:peekQueue",
  countWorkers: "queue:countWorkers",
  recordProgress: "runs:recordProgress",
  pauseTask: "runs:pauseTask",
  settleTask: "runs:settleTask",
  recordLateOutcome: "runs:recordLateOutcome",
  listCalls: "runs:listCalls",
  readJournal: "runs:readJournal",
  decideApproval: "interactions:decideApproval",
  resolveInteraction: "interactions:resolveInteraction",
  expireInteractions: "interactions:expireInteractions",
  readInteraction: "interactions:readInteraction",
  listInteractions: "interactions:listInteractions",
  createPolicy: "policies:createPolicy",
  deletePolicy: "policies:deletePolicy",
  listPolicies: "policies:listPolicies",
  createWorkspace: "identity:createWorkspace",
  createBearer: "identity:createBearer",
  touchBearer: "identity:touchBearer",
  revokeBearer: "identity:revokeBearer",
  createCode: "identity:createCode",
  redeemCode: "identity:redeemCode",
  readWorkspace: "identity:readWorkspace",
  findBearer: "identity:findBearer",
  listKeys: "identity:listKeys",
  readTaskEvents: "events:readTaskEvents",
  readWorkspaceEvents: "events:readWorkspaceEvents",
  listAudit: "audit:listAudit",
};

/** For subscriptions; the only public function that is not a verb. */
export const QUEUE_HEAD = "queue:queueHead";
