/**
 * One listener on the store for the whole server: passes each hint to those who wait for just that task, workspace or
 * bearer. A thousand idle streams cost a thousand map entries, not a thousand calls for every event.
 */
import type { Hint, Store } from "@executor/core/ports/store";

type Topic = `task:${string}` | `settled:${string}` | `workspace:${string}` | `bearer:${string}` | `link:${string}`;

export interface HintHub {
  /** Returns the way to stop. `onHint` must not throw. */
  on(topic: Topic, onHint: () => void): () => void;
  close(): void;
}

export function createHintHub(store: Pick<Store, "watch">, onRevoked: (bearerId: string) => void): HintHub {
  const listeners = new Map<Topic, Set<() => void>>();
  const tell = (topic: Topic): void => {
    for (const listener of listeners.get(topic) ?? []) listener();
  };
  const unwatch = store.watch((hint: Hint) => {
    if (hint.kind === "events") {
      tell(`task:${hint.taskId}`);
      if (hint.settled) tell(`settled:${hint.taskId}`);
      tell(`workspace:${hint.workspaceId}`);
    } else if (hint.kind === "link") {
      tell(`link:${hint.linkId}`);
    } else if (hint.kind === "resync") {
      for (const topic of listeners.keys()) if (!topic.startsWith("bearer:")) tell(topic);
    } else if (hint.kind === "revoked") {
      onRevoked(hint.bearerId);
      tell(`bearer:${hint.bearerId}`);
    }
  });
  return {
    on(topic, onHint) {
      const set = listeners.get(topic) ?? new Set();
      listeners.set(topic, set.add(onHint));
      return () => {
        set.delete(onHint);
        if (set.size === 0 && listeners.get(topic) === set) listeners.delete(topic);
      };
    },
    close: unwatch,
  };
}
