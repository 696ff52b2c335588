/** The few names that look most like a given one, for an error that helps. Bounded: long names are cut, few are returned. */

const MAX_LENGTH = 80;
const MAX_NAMES = 5_000;

export function nearestNames(wanted: string, names: readonly string[], count = 3): string[] {
  const target = wanted.slice(0, MAX_LENGTH).toLowerCase();
  const scored = names
    .slice(0, MAX_NAMES)
    .map((name) => ({ name, distance: editDistance(target, name.slice(0, MAX_LENGTH).toLowerCase()) }));
  const close = scored.filter(
    ({ name, distance }) =>
      distance <= Math.max(3, Math.floor(target.length / 2)) ||
      name.toLowerCase().includes(target) ||
      target.includes(name.toLowerCase()),
  );
  return close
    .toSorted((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, count)
    .map(({ name }) => name);
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(swap, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
