/** Descriptors of credentials; never a secret. */
import type { Credential, TaskEvent } from "@executor/client";
import { queryOptions } from "@tanstack/react-query";
import { executor, keys, queryClient } from "../../api.ts";

export const credentialsQuery = queryOptions({
  queryKey: keys.credentials,
  queryFn: async ({ signal }): Promise<readonly Credential[]> => (await executor().credentials.list({ signal })).items,
  // A sign-in is made elsewhere, and may die since: no event tells.
  refetchOnWindowFocus: true,
  staleTime: 0,
});

/** Somebody gave what a task waited for, or a source went with its credentials. */
export function takeNews(events: readonly TaskEvent[]): void {
  if (events.some(({ type }) => type === "interaction.resolved" || type === "source.removed"))
    void queryClient.invalidateQueries({ queryKey: keys.credentials });
}
