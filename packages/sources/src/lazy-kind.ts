/**
 * A kind that is loaded when the first source of it is read, probed or opened: its libraries are large, and most installations
 * that start have no use for all of them at once.
 */
import type { SourceType } from "@executor/contracts/source";
import type { LoadedKind, SourceKind } from "@executor/core/ports/source";

export function lazyKind(type: SourceType, load: () => Promise<LoadedKind>): SourceKind {
  let loading: Promise<LoadedKind> | null = null;
  const kind = (): Promise<LoadedKind> => {
    loading ??= load();
    // A failed load is tried again by the next caller.
    loading.catch(() => (loading = null));
    return loading;
  };
  return {
    type,
    read: async (source, io) => (await kind()).read(source, io),
    probe: async (url, io) => (await kind()).probe(url, io),
    hosts: async (metaJson, definition) => (await (await kind()).hosts?.(metaJson, definition)) ?? null,
    askChallenge: async (source, io) => (await (await kind()).askChallenge?.(source, io)) ?? null,
    open: async (opened) => (await kind()).open(opened),
  };
}
