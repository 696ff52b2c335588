/** What the reading process says while it turns, and how often. */
export const ALIVE = "alive";
export const BEAT_MS = 5_000;
