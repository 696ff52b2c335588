/**
 * Tokens of runs: opaque, bound to one run of one task, dead after a time, after so many uses if that was asked, when they are revoked,
 * and with the process that holds this.
 */
import { randomBytes } from "node:crypto";

export interface TokenBinding {
  runId: string;
  taskId: string;
}

export interface SessionTokenOptions {
  lifetimeMs?: number | undefined;
  /** No limit when absent. */
  maxUses?: number | undefined;
  nowMs?: (() => number) | undefined;
}

interface Entry extends TokenBinding {
  expiresAtMs: number;
  usesLeft: number;
}

export const defaultTokenLifetimeMs = 24 * 3_600_000;

export class SessionTokens {
  readonly #entries = new Map<string, Entry>();
  readonly #options: SessionTokenOptions;

  constructor(options: SessionTokenOptions = {}) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  mint({ runId, taskId }: TokenBinding): string {
    const token = randomBytes(32).toString("base64url");
    this.#dropExpired();
    this.#entries.set(token, {
      runId,
      taskId,
      expiresAtMs: this.#now() + (this.#options.lifetimeMs ?? defaultTokenLifetimeMs),
      usesLeft: this.#options.maxUses ?? Number.POSITIVE_INFINITY,
    });
    return token;
  }

  /** True once for each use. A token of another run or task is refused without counting as a use. */
  use(token: string, { runId, taskId }: TokenBinding): boolean {
    const entry = this.#entries.get(token);
    if (entry === undefined || entry.runId !== runId || entry.taskId !== taskId) return false;
    if (entry.expiresAtMs <= this.#now() || entry.usesLeft <= 0) {
      this.#entries.delete(token);
      return false;
    }
    entry.usesLeft -= 1;
    return true;
  }

  revoke(token: string): void {
    this.#entries.delete(token);
  }

  #dropExpired(): void {
    const now = this.#now();
    for (const [key, entry] of this.#entries) if (entry.expiresAtMs <= now) this.#entries.delete(key);
  }

  #now(): number {
    return this.#options.nowMs?.() ?? Date.now();
  }
}
