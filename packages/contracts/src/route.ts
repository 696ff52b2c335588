/** What a row of the route table says, and the parts that many rows share. */
import { z } from "zod";
import { Id } from "./id.ts";
import type { Role } from "./role.ts";

export interface Route {
  method: "get" | "post" | "patch" | "delete";
  /** Parameters in braces, as OpenAPI writes them. */
  path: string;
  /** "open": no bearer needed. */
  role: Role | "open";
  summary: string;
  query?: z.ZodObject;
  body?: z.ZodType;
  /** By status. "stream": server-sent events; "ndjson": one JSON value a line; "text": plain text; null: no body. */
  responses: Record<number, z.ZodType | "stream" | "ndjson" | "html" | "text" | null>;
}

export const list = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), nextCursor: z.string().optional() });
export const digits = z
  .string()
  .regex(/^\d{1,9}$/, "must be a whole number")
  .transform(Number);
export const page = { limit: digits.pipe(z.int().min(1).max(200)).optional(), cursor: z.string().max(500).optional() };
export const inWorkspace = z.strictObject({ workspaceId: Id });
/** Reads may leave it out: the bearer says which workspace. A foreign one is not found. */
export const ofWorkspace = { workspaceId: Id.optional() };
