/** What the audit log calls things, in words. One that is not known here is shown by its own name. */
export const ACTIONS: Record<string, string> = {
  "task.created": "Task submitted",
  "task.cancelled": "Task cancelled",
  "approval.requested": "Approval asked for",
  "approval.resolved": "Approval decided",
  "interaction.requested": "Person asked",
  "interaction.resolved": "Person answered",
  "task.completed": "Task completed",
  "task.failed": "Task failed",
  "task.timed_out": "Task timed out",
  "task.denied": "Task denied",
  "call.sent": "Call sent",
  "call.completed": "Call completed",
  "call.failed": "Call failed",
  "call.denied": "Call refused",
  "call.late_outcome": "Outcome came too late",
  "policy.created": "Policy made",
  "policy.deleted": "Policy removed",
  "source.created": "Source connected",
  "source.updated": "Source changed",
  "source.changed": "Tools of a source changed",
  "source.deleted": "Source removed",
  "credential.created": "Credential kept",
  "credential.replaced": "Credential replaced",
  "credential.removed": "Credential removed",
  "credential.expired": "Sign-in died",
  "key.created": "Key made",
  "key.revoked": "Key revoked",
  "workspace.created": "Workspace made",
};

export const sayAction = (action: string): string =>
  Object.hasOwn(ACTIONS, action) ? (ACTIONS[action] as string) : action;
