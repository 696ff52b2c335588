/** Plays the worker in tests: claims a task and ends it, or lets it ask a person, with the verbs a real worker uses. */
import type { Store } from "@executor/core/ports/store";
import type { Fence, NewInteraction, ProgressEntry } from "@executor/core/store/progress";

export interface StandInWorker {
  claim(taskId: string): Promise<Fence>;
  complete(taskId: string, result: unknown): Promise<void>;
  /** Claims the task, makes one call that needs a person, and pauses. Returns the interaction's id. */
  ask(taskId: string, asked?: Partial<NewInteraction>): Promise<string>;
  print(fence: Fence, texts: string[]): Promise<void>;
}

export function createStandInWorker(store: Store): StandInWorker {
  const claim = async (taskId: string): Promise<Fence> => {
    const claimed = await store.claimTask({ taskId, workerId: "worker_test", leaseMs: 60_000, now: Date.now() });
    if (!claimed) throw new Error(`${taskId} cannot be claimed`);
    return { taskId, workspaceId: claimed.task.workspaceId, workerId: "worker_test", attempt: claimed.task.attempt };
  };
  return {
    claim,
    async complete(taskId, result) {
      const end: Parameters<Store["settleTask"]>[0]["end"] = {
        status: "completed",
        resultJson: JSON.stringify(result),
        error: null,
      };
      await store.settleTask({ fence: await claim(taskId), entries: [], end, runMs: 1, now: Date.now() });
    },
    async ask(taskId, asked = {}) {
      const fence = await claim(taskId);
      const { entries, interactionId } = askingEntries(taskId, asked);
      await store.pauseTask({ fence, entries, waitingFor: [interactionId], runMs: 1, now: Date.now() });
      return interactionId;
    },
    print: (fence, texts) =>
      store.recordProgress({
        fence,
        entries: texts.map((text) => ({ kind: "output", stream: "stdout", text, at: Date.now() })),
      }),
  };
}

function askingEntries(
  taskId: string,
  asked: Partial<NewInteraction>,
): { entries: ProgressEntry[]; interactionId: string } {
  const now = Date.now();
  const unique = `${taskId}_${Bun.randomUUIDv7()}`;
  const interaction: NewInteraction = {
    interactionId: `approval_${unique}`,
    callId: `call_${unique}`,
    kind: "approval",
    title: "Call github.issues.create",
    detail: "",
    toolPath: "github.issues.create",
    inputJson: '{"title":"hello"}',
    inputDigest: "digest",
    schemaHash: "schema",
    line: null,
    answerSchemaJson: null,
    url: null,
    why: "the tool changes something",
    mayHaveRun: false,
    stateJson: null,
    putOff: null,
    createdAt: now,
    expiresAt: now + 86_400_000,
    ...asked,
  };
  const { callId, toolPath, inputJson, inputDigest, interactionId } = interaction;
  const call: ProgressEntry = {
    kind: "call",
    callId,
    ordinal: 0,
    callKey: `${toolPath} ${inputDigest} 0`,
    toolPath,
    inputJson,
    inputDigest,
    at: now,
  };
  return { entries: [call, { kind: "ask", interaction }], interactionId };
}
