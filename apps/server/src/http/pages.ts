/** Pages of a list. A cursor is opaque to clients: base64url of what the next read needs, checked when it comes back. */
import { z } from "zod";
import { AppError } from "@executor/contracts/error";

export const DEFAULT_PAGE = 50;

export const writeCursor = (mark: unknown): string => Buffer.from(JSON.stringify(mark)).toString("base64url");

/** By time and id: several rows may share a millisecond. */
export const TimeMark = z.tuple([z.int().min(0), z.string().max(200)]);
export const NumberMark = z.int();

export function readCursor<S extends z.ZodType>(schema: S, cursor: string | undefined): z.output<S> | null {
  if (cursor === undefined) return null;
  const parsed = schema.safeParse(decode(cursor));
  if (!parsed.success)
    throw new AppError(
      "request.invalid",
      "query.cursor: not a cursor of this list; use the nextCursor of an earlier answer as it is",
    );
  return parsed.data;
}

function decode(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Of `limit + 1` rows read, the page and, if the extra one is there, the mark of the last one on it. */
export function toPage<Row, Item>(
  rows: readonly Row[],
  limit: number,
  present: (row: Row) => Item,
  markOf: (row: Row) => unknown,
): { items: Item[]; nextCursor?: string } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(present),
    ...(rows.length > limit && last !== undefined && { nextCursor: writeCursor(markOf(last)) }),
  };
}
