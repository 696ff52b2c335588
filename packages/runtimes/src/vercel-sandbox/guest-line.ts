/**
 * The run's end of a guest's link (core's store/verbs/guest-links.ts): writes answers, waits for turns. Knows the store, not Vercel.
 */
import { randomBytes } from "node:crypto";
import type { Host } from "@executor/core/ports/host";
import { GuestLost } from "@executor/core/ports/runtime";
import type { Store } from "@executor/core/ports/store";
import type { Fence } from "@executor/core/store/progress";
import { cutText } from "./guest-messages.ts";

export interface LineDeps {
  store: Pick<Store, "openGuestLink" | "answerGuest" | "readFromGuest" | "dropGuestText" | "closeGuestLink" | "watch">;
  host: Pick<Host, "now" | "newId" | "sha256" | "monotonicMs">;
}

/** A run may go on for an hour, and replays before that. */
const TOKEN_LIFE_MS = 3 * 3_600_000;
/** Where hints come from other processes the poll is only a net; on Convex it is all there is. */
const POLL_MS = 200;
/** Chunks the store hands out at once; more than these are dropped as they are read. */
const PAGE = 16;
/** In UTF-16 units. Far beyond what the limits of a guest let through. */
const MAX_TURN_LENGTH = 400_000_000;

export class GuestLine {
  readonly runId: string;
  /** Known to the VM only; the store has its digest. */
  readonly token = `ex_run_${randomBytes(32).toString("base64url")}`;
  readonly #deps: LineDeps;
  readonly #unwatch: () => void;
  #turn = 0;
  #taken = 0;
  #wake: () => void = () => undefined;
  #closed: Promise<void> | null = null;
  #lostBecause: string | null = null;

  private constructor(deps: LineDeps) {
    this.#deps = deps;
    this.runId = deps.host.newId("run");
    this.#unwatch = deps.store.watch((hint) => {
      if ((hint.kind === "link" && hint.linkId === this.runId) || hint.kind === "resync") this.#wake();
    });
  }

  static async open(deps: LineDeps, fence: Fence): Promise<GuestLine> {
    const line = new GuestLine(deps);
    const { store, host } = deps;
    const now = host.now();
    const { runId: linkId, token } = line;
    try {
      const link = { fence, linkId, tokenHash: host.sha256(token), expiresAt: now + TOKEN_LIFE_MS, now };
      const { stale } = await store.openGuestLink(link);
      for (const old of stale) await removeLink(store, old);
    } catch (error) {
      line.#unwatch();
      throw error;
    }
    return line;
  }

  /** What the guest said in the turn it is in. Rejects with GuestLost once `lose` was called or nothing comes within the time. */
  async read(withinMs: number): Promise<string> {
    const { store, host } = this.#deps;
    let text = "";
    for (let heardMs = host.monotonicMs(); ;) {
      // Set up before looking, so that what comes while we look is not missed.
      const moved = this.#moved();
      const lostBecause = this.#lostBecause;
      const found = this.#closed ? null : await store.readFromGuest({ linkId: this.runId, after: this.#taken });
      if (!found) throw new GuestLost(this.#lostBecause ?? "the guest's link is gone");
      text += found.texts.join("");
      this.#taken += found.texts.length;
      if (found.ended && found.turn === this.#turn) return text;
      if (found.texts.length > 0) heardMs = host.monotonicMs();
      if (found.texts.length === PAGE) {
        await store.dropGuestText({ linkId: this.runId, box: "up", below: this.#taken });
        continue;
      }
      if (lostBecause !== null) throw new GuestLost(lostBecause);
      if (text.length > MAX_TURN_LENGTH) throw new GuestLost("the VM sent more than a guest may say");
      if (host.monotonicMs() - heardMs > withinMs) throw new GuestLost(`the VM said nothing for ${withinMs} ms`);
      await moved;
    }
  }

  async answer(text: string): Promise<void> {
    const pieces = cutText(text);
    for (const [index, piece] of pieces.entries()) {
      const last = index === pieces.length - 1;
      const about = { linkId: this.runId, turn: this.#turn, taken: this.#taken };
      await this.#deps.store.answerGuest({ ...about, text: piece, last });
    }
    this.#turn++;
  }

  /** The VM is gone. What it had sent before is still read. */
  lose(reason: string): void {
    this.#lostBecause ??= reason;
    this.#wake();
  }

  /** The token is dead when it resolves, if not before. */
  close(): Promise<void> {
    this.#closed ??= removeLink(this.#deps.store, this.runId).catch(() => undefined);
    this.#unwatch();
    this.#wake();
    return this.#closed;
  }

  #moved(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, POLL_MS);
    this.#wake = () => {
      clearTimeout(timer);
      resolve();
    };
    return promise;
  }
}

async function removeLink(store: LineDeps["store"], linkId: string): Promise<void> {
  while (!(await store.closeGuestLink({ linkId })));
}
