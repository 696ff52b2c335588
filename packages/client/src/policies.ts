/** Rules on tool paths: allow, ask a person, deny. For admins. */
import type { CreatePolicy, Policy, PolicyTestResult, TestPolicy } from "@executor/contracts/policy";
import type { Connection } from "./connection.ts";
import type { WithoutWorkspace } from "./endpoints.ts";
import type { RequestOptions } from "./http.ts";
import type { Page } from "./pages.ts";

export function createPolicies({ http, workspaceId }: Connection) {
  return {
    /** In the order they win. */
    list: ({ signal }: RequestOptions = {}): Promise<Page<Policy>> => http.call("listPolicies", { signal }),
    create: async (policy: WithoutWorkspace<CreatePolicy>, { signal }: RequestOptions = {}): Promise<Policy> =>
      http.call("createPolicy", { body: { ...policy, workspaceId: await workspaceId() }, signal }),
    remove: async (policyId: string, { signal }: RequestOptions = {}): Promise<void> =>
      http.call("deletePolicy", { params: { policyId }, query: { workspaceId: await workspaceId() }, signal }),
    /** Which rule would decide a call, and why. Nothing is called. */
    test: async (call: WithoutWorkspace<TestPolicy>, { signal }: RequestOptions = {}): Promise<PolicyTestResult> =>
      http.call("testPolicy", { body: { ...call, workspaceId: await workspaceId() }, signal }),
  };
}
