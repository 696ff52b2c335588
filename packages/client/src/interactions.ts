/** Anything a task waits for a person to do. Approvals are listed here too, but decided only through `approvals`. */
import type { Interaction } from "@executor/contracts/interaction";
import type { Connection } from "./connection.ts";
import type { Answer, Body, Query } from "./endpoints.ts";
import type { RequestOptions } from "./http.ts";
import { eachItem, type Page } from "./pages.ts";

export type InteractionFilter = Omit<Query<"listInteractions">, "workspaceId">;
export type ResolveOptions = Pick<Body<"resolveInteraction">, "reason"> & RequestOptions;
export type ResolvedInteraction = Answer<"resolveInteraction">;

export function createInteractions({ http, workspaceId }: Connection) {
  const list = (filter: InteractionFilter = {}, { signal }: RequestOptions = {}): Promise<Page<Interaction>> =>
    http.call("listInteractions", { query: filter, signal });

  const resolve = async (
    interactionId: string,
    outcome: { answer: unknown } | { decline: true },
    { signal, ...rest }: ResolveOptions,
  ): Promise<ResolvedInteraction> => {
    const body = { workspaceId: await workspaceId(), ...outcome, ...rest };
    return http.call("resolveInteraction", { params: { interactionId }, body, signal });
  };

  return {
    list,
    /** All that match, page after page. */
    each: (filter: InteractionFilter = {}, options: RequestOptions = {}) =>
      eachItem((cursor) => list({ ...filter, cursor }, options), filter.cursor),
    get: (interactionId: string, { signal }: RequestOptions = {}): Promise<Interaction> =>
      http.call("readInteraction", { params: { interactionId }, signal }),
    /** The answer must fit the interaction's `schema`. */
    answer: (interactionId: string, answer: unknown, options: ResolveOptions = {}) =>
      resolve(interactionId, { answer }, options),
    decline: (interactionId: string, options: ResolveOptions = {}) =>
      resolve(interactionId, { decline: true }, options),
  };
}
