/**
 * Who may call back, at a bounded cost: anybody may send a token here, and each one that is not known costs a look into the
 * store. So those share a limit of their own, and nobody whose token was good before has to wait for them.
 */
import type { Host } from "@executor/core/ports/host";
import type { Store } from "@executor/core/ports/store";
import type { GuestSide } from "@executor/core/store/verbs/guest-links";
import { RateLimit } from "../http/rate-limit.ts";

/** Of one run; a healthy guest does not come near it. */
const POSTS_PER_MINUTE = 30_000;
/** Of all together. */
const UNKNOWN_PER_MINUTE = 3_000;
const MAX_KNOWN = 2_000;

type GuestBearer = Pick<GuestSide, "linkId" | "tokenHash" | "now">;

export class TokenCheck {
  readonly #store: Pick<Store, "checkGuest">;
  readonly #posts: RateLimit;
  readonly #unknown: RateLimit;
  readonly #known = new Set<string>();

  constructor(store: Pick<Store, "checkGuest">, host: Pick<Host, "monotonicMs">) {
    this.#store = store;
    this.#posts = new RateLimit(POSTS_PER_MINUTE, () => host.monotonicMs());
    this.#unknown = new RateLimit(UNKNOWN_PER_MINUTE, () => host.monotonicMs());
  }

  /** Rejects unless the token is good at this moment. */
  async check(bearer: GuestBearer): Promise<void> {
    const key = `${bearer.linkId}/${bearer.tokenHash}`;
    if (this.#known.has(key)) this.#posts.take(bearer.linkId, "callbacks of a run");
    else this.#unknown.take("", "callbacks with tokens that are not known yet");
    await this.#store.checkGuest(bearer).catch((error: unknown) => {
      this.#known.delete(key);
      throw error;
    });
    this.#known.add(key);
    const [oldest] = this.#known;
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
  }
}
