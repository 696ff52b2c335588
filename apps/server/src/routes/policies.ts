/** Rules of a workspace: list them in the order they win, add, remove, and try one call against them. */
import { evaluatePolicy, orderPolicies } from "@executor/core/policy/evaluate-policy";
import { evaluateCall } from "@executor/core/policy/evaluate-call";
import { openToolCatalog } from "@executor/core/tools/builtin-tools";
import { findTool } from "@executor/core/tools/tool-segment";
import type { AppDeps } from "../deps.ts";
import { actorOf } from "../http/authenticate.ts";
import type { HandlersOf } from "../http/route-types.ts";
import { newPolicyRow } from "../policy-row.ts";
import { presentPolicy } from "../present/present-policy.ts";

export function policyRoutes({
  store,
  host,
  tools,
}: AppDeps): HandlersOf<"listPolicies" | "createPolicy" | "deletePolicy" | "testPolicy"> {
  return {
    async listPolicies({ caller }) {
      const policies = await store.listPolicies({ workspaceId: caller.workspaceId });
      return { status: 200, body: { items: orderPolicies(policies).map(presentPolicy) } };
    },

    async createPolicy({ caller, body }) {
      const policy = newPolicyRow(host, caller, body);
      return { status: 201, body: presentPolicy(await store.createPolicy({ policy, by: actorOf(caller) })) };
    },

    async deletePolicy({ caller, param }) {
      await store.deletePolicy({
        policyId: param("policyId"),
        workspaceId: caller.workspaceId,
        by: actorOf(caller),
        now: host.now(),
      });
      return { status: 204 };
    },

    async testPolicy({ caller, body }) {
      const { toolPath, input = {} } = body;
      const who = { actorId: body.actorId ?? caller.actorId, clientId: body.clientId ?? caller.clientId };
      const policies = await store.listPolicies({ workspaceId: caller.workspaceId });
      const catalog = await openToolCatalog(
        [tools],
        { workspaceId: caller.workspaceId, actorId: who.actorId },
        () => policies,
      );
      const tool = findTool(catalog, toolPath);
      const unknown = {
        decision: "require_approval",
        why: "no policy matches, and there is no such tool to have a default",
      } as const;
      const { policyId, ...verdict } = tool
        ? evaluateCall(policies, tool, who, input)
        : evaluatePolicy(policies, { toolPath, ...who, input }, unknown);
      return { status: 200, body: { ...verdict, ...(policyId !== null && { policyId }), toolFound: tool !== null } };
    },
  };
}
