/** A server may repeat its credential in what it says about itself: that goes before anything is kept. */
import { AppError } from "@executor/contracts/error";
import type { AuthParts } from "@executor/core/ports/source";
import { createRedactor } from "../http/redact.ts";

/** Shorter secrets would tear holes into names and schemas. */
const SHORTEST_ECHO = 8;

export function withoutEchoes<T>(told: T, { secrets }: AuthParts): T {
  const text = JSON.stringify(told);
  const clean = createRedactor(secrets.filter((secret) => secret.length >= SHORTEST_ECHO))(text);
  if (clean === text) return told;
  const parsed: unknown = JSON.parse(clean);
  if (typeof parsed === "object" && parsed !== null) return parsed as T;
  throw new AppError("source.unreadable", "The MCP server repeats its credential in the list of its tools.");
}
