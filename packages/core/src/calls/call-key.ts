/**
 * The name of a call in the journal: its path, its canonical input, and how many equal calls the code made before.
 * Computed by the host from what the guest sent, so a guest cannot name another call's outcome.
 */

/** Deeper input is refused: how deep a stack reaches differs from run to run, and a replay must not depend on it. */
const MAX_DEPTH = 200;

/** JSON with the keys of every object in order: equal values give equal text. Throws a RangeError on a value nested too deeply. */
export function canonicalJson(value: unknown, depth = 0): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (depth >= MAX_DEPTH) throw new RangeError(`nested more than ${MAX_DEPTH} levels deep`);
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item, depth + 1)).join(",")}]`;
  const object = value as Record<string, unknown>;
  const members = Object.keys(object)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(object[name], depth + 1)}`);
  return `{${members.join(",")}}`;
}

/** Counts equal calls of one session. A new session starts anew, and so arrives at the same keys. */
export class CallKeys {
  readonly #made = new Map<string, number>();

  next(toolPath: string, inputDigest: string): string {
    const same = `${toolPath} ${inputDigest}`;
    const before = this.#made.get(same) ?? 0;
    this.#made.set(same, before + 1);
    return `${same} ${before}`;
  }
}
