/** Ids: a word that says what it is, then 128 random bits. Nothing may be read into them, and none is ever used again. */
import { z } from "zod";

export const idPrefixes = [
  "task",
  "call",
  "approval",
  "question",
  "policy",
  "key",
  "session",
  "invite",
  "ws",
  "actor",
  "client",
  "worker",
  "audit",
  "run",
  "source",
  "credential",
  "oauth",
] as const;
export type IdPrefix = (typeof idPrefixes)[number];

/** Any id a caller may send: bounded, one line, no surprise characters. */
export const Id = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[A-Za-z0-9_.:@-]+$/, "letters, digits, _ . : @ - only");
export const Timestamp = z.iso.datetime().describe("ISO 8601, UTC");
