/** How columns become values: times in ISO 8601, JSON text parsed, and what is null left out. */

export const toTime = (ms: number): string => new Date(ms).toISOString();

export const parseJson = (text: string): unknown => JSON.parse(text) as unknown;

/** Absent rather than null: `{...present({ reason })}` has no `reason` when there is none. */
export function present<T extends Record<string, unknown>>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}

export const timeOrNull = (ms: number | null): string | null => (ms === null ? null : toTime(ms));

/** Longer JSON is left out of lists: who wants it reads the one thing. */
export const MAX_SHOWN_BYTES = 64_000;
