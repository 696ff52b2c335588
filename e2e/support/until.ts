/** Asks again and again until there is an answer; says what it waited for when there is none in time. */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  timeoutMs = 10_000,
): Promise<NonNullable<Exclude<T, false>>> {
  const giveUpAt = Date.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found) return found as NonNullable<Exclude<T, false>>;
    if (Date.now() > giveUpAt) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await Bun.sleep(20);
  }
}
