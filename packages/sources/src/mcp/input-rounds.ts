/**
 * Calls that a server of 2026-07-28 puts off until a person has answered (`input_required`). One answer may need several people's
 * answers: each is an ask of its own, and the call is sent again with all of them and with the server's own state, unchanged.
 * Between the asks nothing is sent; all that is needed lies beside the ask.
 */
import type { Answered, Ask } from "@executor/core/tools/tool";
import { type ElicitAnswer, type Elicitation, refusalOf, toAnswer, toAsk } from "./elicitation.ts";

interface Round {
  /** Names the round: answers to an earlier one are not for this one. */
  id: string;
  requests: Record<string, Elicitation>;
  requestState?: string;
}

const MAX_STATE_CHARS = 100_000;
const MAX_REQUESTS = 20;

/** Null: the result is one. */
export function readInputRequired(result: unknown, sourceName: string): { ask: Ask } | { refused: string } | null {
  const { resultType, inputRequests, requestState } = result as Record<string, unknown>;
  if (resultType !== "input_required") return null;
  const refused = (why: string) => ({ refused: `${sourceName} ${why}` });
  const wanted = Object.entries((inputRequests ?? {}) as Record<string, { method?: string; params?: Elicitation }>);
  const state = typeof requestState === "string" ? requestState : undefined;
  if (wanted.length === 0) return refused("put the call off without saying what it needs. Call again.");
  if (wanted.length > MAX_REQUESTS || (state?.length ?? 0) > MAX_STATE_CHARS)
    return refused("asked for more than can be kept until a person answers; it was refused.");
  const strange = wanted.find(([, each]) => each.method !== "elicitation/create" || !each.params);
  if (strange) return refused(`wanted ${String(strange[1].method).slice(0, 100)}, which sources do not get here.`);
  const requests = wanted.map(([key, { params }]) => [key, params as Elicitation] as const);
  for (const [, request] of requests) {
    const why = refusalOf(request, sourceName);
    if (why !== null) return { refused: why };
  }
  const round: Round = {
    id: crypto.randomUUID(),
    requests: Object.fromEntries(requests),
    ...(state !== undefined && { requestState: state }),
  };
  return { ask: askFor(round, requests[0]?.[0] ?? "", sourceName) };
}

/** What the last round still needs before the call can be sent; null when nothing. */
export function nextAsk(answers: readonly Answered[], sourceName: string): Ask | null {
  const { round, given } = lastRound(answers);
  const missing = Object.keys(round?.requests ?? {}).find((key) => !given.has(key));
  return round && missing !== undefined ? askFor(round, missing, sourceName) : null;
}

/** What goes with the call when it is sent again. */
export function answerRound(
  answers: readonly Answered[],
): { inputResponses: Record<string, ElicitAnswer>; requestState?: string } | object {
  const { round, given } = lastRound(answers);
  if (!round) return {};
  const inputResponses = Object.fromEntries(
    Object.entries(round.requests).flatMap(([key, request]) => {
      const answered = given.get(key);
      return answered ? [[key, toAnswer(request, answered)]] : [];
    }),
  );
  return { inputResponses, ...(round.requestState !== undefined && { requestState: round.requestState }) };
}

const askFor = (round: Round, key: string, sourceName: string): Ask =>
  toAsk(round.requests[key] as Elicitation, sourceName, { round, key });

function lastRound(answers: readonly Answered[]): { round: Round | null; given: Map<string, Answered> } {
  const known = answers.flatMap((answered) => {
    if (answered.kind !== "elicitation" || answered.stateJson === null) return [];
    const { round, key } = JSON.parse(answered.stateJson) as { round?: Round; key?: string };
    return round && key !== undefined ? [{ round, key, answered }] : [];
  });
  const round = known.at(-1)?.round ?? null;
  const ofRound = known.filter((each) => each.round.id === round?.id);
  return { round, given: new Map(ofRound.map(({ key, answered }) => [key, answered])) };
}
