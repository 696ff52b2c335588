/**
 * What we give a client to bring back: sealed (AES-GCM, by the workspace's key, which all instances share), bound to the bearer it
 * was given to and to what it is for, and good for a day at most. Anything else does not open.
 */
import type { z } from "zod";
import type { Sealer } from "@executor/vault/sealer";
import type { Bearer } from "../http/authenticate.ts";

export interface Tickets {
  seal(purpose: string, bearer: Bearer, content: unknown): Promise<string>;
  /** Null for whatever was not sealed for this bearer and purpose, was changed, or is too old. */
  open<S extends z.ZodType>(purpose: string, bearer: Bearer, ticket: string, schema: S): Promise<z.output<S> | null>;
}

const MAX_LENGTH = 32_000;
const GOOD_FOR_MS = 24 * 3_600_000;

export function createTickets({ sealer, now }: { sealer: Sealer; now: () => number }): Tickets {
  const idOf = ({ bearerId, actorId }: Bearer): string => JSON.stringify([bearerId, actorId]);
  return {
    seal: (purpose, bearer, content) =>
      sealer.seal(bearer.workspaceId, purpose, idOf(bearer), JSON.stringify({ until: now() + GOOD_FOR_MS, content })),
    async open(purpose, bearer, ticket, schema) {
      if (ticket.length > MAX_LENGTH) return null;
      try {
        const text = await sealer.open(bearer.workspaceId, purpose, idOf(bearer), ticket);
        const { until, content } = JSON.parse(text) as { until: number; content: unknown };
        const parsed = schema.safeParse(content);
        return until > now() && parsed.success ? parsed.data : null;
      } catch {
        return null;
      }
    },
  };
}
