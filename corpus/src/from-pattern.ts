import RandExp from "randexp";

/** The same text each time, and as short as the pattern lets it be. */
export function fromPattern(pattern: string): string | null {
  try {
    const maker = new RandExp(new RegExp(pattern));
    maker.randInt = (from: number) => from;
    maker.max = 1;
    return maker.gen();
  } catch {
    return null;
  }
}
