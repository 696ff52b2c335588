/**
 * A hash per component that changes whenever anything reachable from it changes. Components may form cycles (all of Stripe's
 * answers are one), so it is made per strongly connected part: members of a cycle share theirs. Each text is hashed once.
 */
export interface Component {
  text: string;
  refs: readonly string[];
}

export function hashComponents(components: ReadonlyMap<string, Component>): Map<string, string> {
  const hashes = new Map<string, string>();
  for (const part of connectedParts(components)) {
    const members = new Set(part);
    const lines = part.map((ref) => sha256((components.get(ref) as Component).text)).toSorted();
    const beyond = new Set<string>();
    for (const ref of part) {
      for (const next of (components.get(ref) as Component).refs) {
        if (!members.has(next)) beyond.add(`${next} ${hashes.get(next) ?? "nowhere"}`);
      }
    }
    const hash = sha256([...lines, ...[...beyond].toSorted()].join("\n"));
    for (const ref of part) hashes.set(ref, hash);
  }
  return hashes;
}

export const sha256 = (text: string): string => Bun.SHA256.hash(text, "hex");

interface Visit {
  ref: string;
  index: number;
  low: number;
  next: number;
  onStack: boolean;
}

/** Tarjan's algorithm without recursion: a chain of ten thousand references must not end the process. Successors come first. */
function connectedParts(components: ReadonlyMap<string, Component>): string[][] {
  const visits = new Map<string, Visit>();
  const stack: Visit[] = [];
  const parts: string[][] = [];
  const enter = (ref: string): Visit => {
    const visit: Visit = { ref, index: visits.size, low: visits.size, next: 0, onStack: true };
    visits.set(ref, visit);
    stack.push(visit);
    return visit;
  };
  for (const root of components.keys()) {
    if (visits.has(root)) continue;
    const path = [enter(root)];
    while (path.length > 0) {
      const visit = path.at(-1) as Visit;
      const ref = (components.get(visit.ref) as Component).refs[visit.next++];
      if (ref === undefined) {
        path.pop();
        const parent = path.at(-1);
        if (parent) parent.low = Math.min(parent.low, visit.low);
        if (visit.low === visit.index) parts.push(takePart(stack, visit));
        continue;
      }
      if (!components.has(ref)) continue;
      const known = visits.get(ref);
      if (!known) path.push(enter(ref));
      else if (known.onStack) visit.low = Math.min(visit.low, known.index);
    }
  }
  return parts;
}

function takePart(stack: Visit[], root: Visit): string[] {
  const part: string[] = [];
  for (;;) {
    const visit = stack.pop() as Visit;
    visit.onStack = false;
    part.push(visit.ref);
    if (visit === root) return part;
  }
}
