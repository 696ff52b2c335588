/** How many letters must be changed, added, left out or swapped with their neighbour to make one text of the other. */

const MAX_LENGTH = 96;
const rows = [0, 1, 2].map(() => new Uint8Array(MAX_LENGTH + 2));

/** `most + 1` as soon as it is sure to be more than `most`. Texts are cut after 96 characters. */
export function editDistance(left: string, right: string, most: number): number {
  const a = left.length > MAX_LENGTH ? left.slice(0, MAX_LENGTH) : left;
  const b = right.length > MAX_LENGTH ? right.slice(0, MAX_LENGTH) : right;
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let [older, previous, current] = rows as [Uint8Array, Uint8Array, Uint8Array];
  for (let j = 0; j <= b.length; j++) previous[j] = j;
  for (let i = 1; i <= a.length; i++) {
    const unit = a.charCodeAt(i - 1);
    current[0] = i;
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const other = b.charCodeAt(j - 1);
      let cost = (previous[j - 1] as number) + (unit === other ? 0 : 1);
      cost = Math.min(cost, (previous[j] as number) + 1, (current[j - 1] as number) + 1);
      if (i > 1 && j > 1 && unit === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === other)
        cost = Math.min(cost, (older[j - 2] as number) + 1);
      current[j] = cost;
      if (cost < least) least = cost;
    }
    if (least > most) return most + 1;
    [older, previous, current] = [previous, current, older];
  }
  return Math.min(previous[b.length] as number, most + 1);
}
