/** A value that components can watch: for the few things that are not data of the server (who is signed in, the line's state). */
import { useSyncExternalStore } from "react";

export interface Store<T> {
  get(): T;
  set(value: T): void;
  subscribe(listener: () => void): () => void;
}

export function createStore<T>(initial: T): Store<T> {
  let current = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => current,
    set(value) {
      if (Object.is(value, current)) return;
      current = value;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export const useStore = <T>(store: Store<T>): T => useSyncExternalStore(store.subscribe, store.get);

/** A setting that outlives the page. Storage may be switched off: then it lives as long as the page does. */
export function readSetting(name: string): string | null {
  try {
    return localStorage.getItem(`executor.${name}`);
  } catch {
    return null;
  }
}

export function writeSetting(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`executor.${name}`);
    else localStorage.setItem(`executor.${name}`, value);
  } catch {
    // Nothing to do: see above.
  }
}
