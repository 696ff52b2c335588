/** Warnings of one reading: each sentence once, the first hundred, then how many more there were. */
export interface BoundedWarnings {
  add(sentence: string): void;
  list(): string[];
}

export function boundedWarnings(max = 100): BoundedWarnings {
  const said = new Set<string>();
  let more = 0;
  return {
    add(sentence) {
      if (said.has(sentence)) return;
      if (said.size < max) said.add(sentence.slice(0, 500));
      else more++;
    },
    list: () => (more === 0 ? [...said] : [...said, `${more} more warnings are not shown.`]),
  };
}
