/** Samples and what is told of them. Floor and product are always sampled in turn, so that noise of the machine hits both. */

export type Sampler = () => Promise<number> | number;

export async function timeMs(work: () => unknown): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** Runs every sampler once per round, in turn. What the first rounds say is dropped: they warm up. */
export async function sampleInTurn<K extends string>(
  samplers: Record<K, Sampler>,
  { rounds, warmUp }: { rounds: number; warmUp: number },
): Promise<Record<K, number[]>> {
  const names = Object.keys(samplers) as K[];
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<K, number[]>;
  for (let round = 0; round < warmUp + rounds; round++) {
    for (const name of names) {
      const value = await samplers[name]();
      if (round >= warmUp) samples[name].push(value);
    }
  }
  return samples;
}

export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (value === undefined) throw new Error("no samples were taken");
  return value;
}

export const p50 = (samples: readonly number[]): number => percentile(samples, 0.5);
