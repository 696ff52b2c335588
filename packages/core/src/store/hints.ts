/** What a verb that went through lets others know. One table for all stores; a hint may be lost, so nothing depends on it. */
import type { Hint, StoreVerbs } from "../ports/store.ts";

type Hints = {
  [K in keyof StoreVerbs]?: (args: Parameters<StoreVerbs[K]>[0], result: Awaited<ReturnType<StoreVerbs[K]>>) => Hint[];
};

type Ids = { taskId: string; workspaceId: string };
const events = ({ taskId, workspaceId }: Ids): Hint => ({ kind: "events", taskId, workspaceId, settled: false });
const settled = ({ taskId, workspaceId }: Ids): Hint => ({ kind: "events", taskId, workspaceId, settled: true });
const sources = ({ workspaceId }: { workspaceId: string }): Hint => ({ kind: "sources", workspaceId });
/** Streams of a workspace listen to events of whatever subject. */
const aboutSource = ({ sourceId, workspaceId }: { sourceId: string; workspaceId: string }): Ids => ({
  taskId: sourceId,
  workspaceId,
});
const link = ({ linkId }: { linkId: string }): Hint => ({ kind: "link", linkId });
const queued: Hint = { kind: "queued" };

const hints: Hints = {
  createTask: ({ task }, result) => (result.created ? [queued, events(task)] : []),
  claimTask: (_, result) => (result ? [events(result.task)] : []),
  recoverLeases: (_, result) => (result.recovered.length > 0 ? [queued] : []),
  releaseTask: ({ fence }, result) => (result ? [queued, events(fence)] : []),
  recordProgress: ({ fence }) => [events(fence)],
  pauseTask: ({ fence }, result) => (result.status === "queued" ? [queued, events(fence)] : [settled(fence)]),
  settleTask: ({ fence }) => [settled(fence)],
  sendFromGuest: (args) => [link(args)],
  answerGuest: (args) => [link(args)],
  closeGuestLink: (args) => [link(args)],
  cancelTask: (args) => [{ kind: "cancelled", taskId: args.taskId }, settled(args)],
  decideApproval: (_, result) => [queued, events(result)],
  resolveInteraction: (_, result) => [queued, events(result)],
  expireInteractions: (_, result) =>
    result.expired.length > 0 ? [queued, ...result.expired.map((each) => events(each))] : [],
  createSource: ({ source }) => [sources(source), events(aboutSource(source))],
  saveEnvSources: (args) => [sources(args)],
  updateSource: (args) => [sources(args)],
  deleteSource: (args, result) => [sources(args), events(aboutSource(result))],
  requestIndexing: (args) => [sources(args)],
  releaseIndexing: (_, result) => (result ? [sources(result)] : []),
  finishIndexing: (_, result) => (result ? [sources(result), events(aboutSource(result))] : []),
  failIndexing: (_, result) => (result ? [sources(result), events(aboutSource(result))] : []),
  revokeBearer: (args, result) => (result ? [{ kind: "revoked", bearerId: args.bearerId }] : []),
};

export function hintsOf(verb: keyof StoreVerbs, args: unknown, result: unknown): Hint[] {
  const make = hints[verb] as ((args: unknown, result: unknown) => Hint[]) | undefined;
  return make ? make(args, result) : [];
}
