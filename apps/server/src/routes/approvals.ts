/** Approvals: what asks for a person's yes or no, and the only door where one is given. */
import { AppError } from "@executor/contracts/error";
import type { DecideApproval } from "@executor/contracts/approval";
import type { InteractionRow, PolicyRow } from "@executor/core/store/tables";
import type { AppDeps } from "../deps.ts";
import { actorOf, type Bearer } from "../http/authenticate.ts";
import type { HandlersOf } from "../http/route-types.ts";
import { listInteractions } from "../list-interactions.ts";
import { newPolicyRow } from "../policy-row.ts";
import { presentApproval } from "../present/present-interaction.ts";
import { presentPolicy } from "../present/present-policy.ts";
import { presentTask } from "../present/present-task.ts";

export function approvalRoutes({
  store,
  host,
}: AppDeps): HandlersOf<"listApprovals" | "readApproval" | "decideApproval"> {
  return {
    async listApprovals({ caller, query }) {
      const page = await listInteractions(
        store,
        { ...query, workspaceId: caller.workspaceId, approvalsOnly: true },
        ({ interaction, task }) => presentApproval(interaction, task),
      );
      return { status: 200, body: page };
    },

    async readApproval({ caller, param }) {
      const { approval, read } = await readBoth(caller, param("approvalId"));
      return { status: 200, body: presentApproval(approval, read.task) };
    },

    async decideApproval({ caller, param, body }) {
      const approvalId = param("approvalId");
      const policy = body.remember === undefined ? null : await rememberAs(caller, approvalId, body);
      await store.decideApproval({
        interactionId: approvalId,
        workspaceId: caller.workspaceId,
        decision: body.decision,
        reason: body.reason ?? null,
        by: actorOf(caller),
        remember: policy,
        now: host.now(),
      });
      const { approval, read } = await readBoth(caller, approvalId);
      return {
        status: 200,
        body: {
          approval: presentApproval(approval, read.task),
          task: presentTask(read, host.now()),
          ...(policy && { policy: presentPolicy(policy) }),
        },
      };
    },
  };

  async function readApproval(caller: Bearer, approvalId: string): Promise<InteractionRow> {
    const row = await store.readInteraction({ interactionId: approvalId, workspaceId: caller.workspaceId });
    if (row?.kind !== "approval")
      throw new AppError("approval.not_found", `There is no approval ${approvalId} in this workspace.`);
    return row;
  }

  async function readBoth(caller: Bearer, approvalId: string) {
    const approval = await readApproval(caller, approvalId);
    const read = await store.readTask({ taskId: approval.taskId, workspaceId: caller.workspaceId });
    if (!read) throw new Error(`approval ${approvalId} has no task`);
    return { approval, read };
  }

  /** The rule that a decision leaves behind: the same answer, for exactly this tool unless a wider pattern is given. */
  async function rememberAs(
    caller: Bearer,
    approvalId: string,
    { decision, remember }: DecideApproval,
  ): Promise<PolicyRow> {
    if (caller.role !== "admin")
      throw new AppError(
        "auth.forbidden",
        "`remember` writes a policy and needs the role admin. Decide without it, or ask an admin.",
      );
    const { toolPath } = await readApproval(caller, approvalId);
    const rule = remember === true || remember === undefined ? {} : remember;
    if (rule.toolPathPattern === undefined && toolPath.includes("*"))
      throw new AppError(
        "request.invalid",
        "body.remember: the tool's path has a `*`, which would match other tools; give toolPathPattern",
      );
    const wanted = {
      toolPathPattern: toolPath,
      ...rule,
      decision: decision === "approved" ? "allow" : "deny",
    } as const;
    return newPolicyRow(host, caller, wanted);
  }
}
