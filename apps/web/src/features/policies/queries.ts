/** Policies, in the order they win. */
import type { Policy } from "@executor/client";
import { queryOptions } from "@tanstack/react-query";
import { executor, keys, queryClient } from "../../api.ts";

export const policiesQuery = queryOptions({
  queryKey: keys.policies,
  queryFn: async ({ signal }): Promise<readonly Policy[]> => (await executor().policies.list({ signal })).items,
  // No event tells of a rule that somebody else made.
  staleTime: 0,
});

/** A rule changes which tools there are, and which of them ask. */
export function afterChange(): void {
  void queryClient.invalidateQueries({ queryKey: keys.policies });
  void queryClient.invalidateQueries({ queryKey: keys.tools });
  void queryClient.invalidateQueries({ queryKey: ["tool"] });
}
