/**
 * Where guests in VMs call: /internal/runs/:runId/tool-call (what a guest wants; answered with what it is given) and /output
 * (what it prints, and how it ended). The server passes text between the guest and the run that holds the lease; it reads none
 * of it, decides nothing and performs nothing. Outside the route table: not an API for people, and the only door that is open
 * to the network when a Funnel is.
 */
import { Hono } from "hono";
import { z } from "zod";
import { AppError } from "@executor/contracts/error";
import { Id } from "@executor/contracts/id";
import type { GuestSide } from "@executor/core/store/verbs/guest-links";
import { Bell } from "../bell.ts";
import type { AppDeps } from "../deps.ts";
import type { HintHub } from "../hint-hub.ts";
import type { AppTypes } from "../http/app-types.ts";
import { readBearer } from "../http/authenticate.ts";
import { BodyBudget } from "../http/body-budget.ts";
import { parseWith, readJson } from "../http/parse.ts";
import { looksLikeToken } from "../tokens.ts";
import { TokenCheck } from "./token-check.ts";

/** A piece of a million characters, escaped, and what is around it. */
const BODY_BYTES = 8_000_000;
const BODIES_AT_ONCE = 8;
/** Proxies cut what is silent for longer; the guest asks again. */
const HOLD_MS = 20_000;
/** What a hint would tell at once is found after this without one. */
const POLL_MS = 200;

const side = { runner: z.string().min(8).max(64), turn: z.int().min(0), after: z.int().min(0) };
const part = { part: z.int().min(0), text: z.string(), last: z.boolean() };
/** Without a part: more of the answer is asked for. */
const ToolCallBody = z.union([z.strictObject({ ...side, ...part }), z.strictObject(side)]);
const OutputBody = z.strictObject({ ...side, ...part });

export type GuestRoutesDeps = Pick<AppDeps, "store" | "host" | "shutdown"> & {
  hub: HintHub;
  /** Tells a prober that this very server is at the other end of a URL. */
  instance: string;
};

export function guestRoutes({ store, host, hub, shutdown, instance }: GuestRoutesDeps): Hono<AppTypes> {
  const budget = new BodyBudget(BODIES_AT_ONCE * BODY_BYTES);
  const tokens = new TokenCheck(store, host);
  /** By run, what ends the wait that is under way. */
  const waits = new Map<string, () => void>();
  const app = new Hono<AppTypes>();

  app.get("/internal/ping", (c) => {
    c.set("route", "/internal/ping");
    return c.json({ instance });
  });
  app.post("/internal/runs/:runId/tool-call", async (c) => {
    c.set("route", "/internal/runs/{runId}/tool-call");
    const { guest, body } = await read(c.req.raw, c.req.param("runId"), ToolCallBody);
    if ("text" in body) await store.sendFromGuest({ ...guest, ...body });
    if ("text" in body && !body.last) return c.json({});
    return c.json(await awaitAnswer(guest, body.turn, c.req.raw.signal));
  });
  app.post("/internal/runs/:runId/output", async (c) => {
    c.set("route", "/internal/runs/{runId}/output");
    const { guest, body } = await read(c.req.raw, c.req.param("runId"), OutputBody);
    await store.sendFromGuest({ ...guest, ...body });
    return c.json({});
  });
  app.all("/internal/*", () => {
    throw new AppError("route.not_found", "There is no such route.");
  });
  return app;

  async function read<B extends { runner: string; turn: number; after: number }>(
    request: Request,
    runId: string,
    schema: z.ZodType<B>,
  ): Promise<{ guest: GuestSide; body: B }> {
    const linkId = parseWith(Id, runId, "path.runId");
    const token = readBearer(request.headers.get("authorization") ?? undefined);
    if (!looksLikeToken(token)) throw new AppError("auth.invalid", "This is not the token of a run.");
    const bearer = { linkId, tokenHash: host.sha256(token), now: host.now() };
    // Before a body is read or anything is written: who guesses tokens must not hold up those who have one.
    await tokens.check(bearer);
    const body = parseWith(schema, await readJson(request, BODY_BYTES, budget), "body");
    return { guest: { ...bearer, runner: body.runner, after: body.after }, body };
  }

  /** Until there is some of it, the run is over (then the token is refused), or it has taken long enough to ask again. */
  async function awaitAnswer(
    guest: GuestSide,
    turn: number,
    gone: AbortSignal,
  ): Promise<{ texts: string[]; last: boolean }> {
    const bell = new Bell(host);
    const off = hub.on(`link:${guest.linkId}`, bell.ring);
    for (const signal of [gone, shutdown]) signal.addEventListener("abort", bell.ring);
    const until = host.monotonicMs() + HOLD_MS;
    let isReplaced = false;
    const replace = (): void => {
      isReplaced = true;
      bell.ring();
    };
    // A guest asks once at a time: who asks again has given up the request before. So a run costs one wait, whatever it sends.
    waits.get(guest.linkId)?.();
    waits.set(guest.linkId, replace);
    try {
      for (;;) {
        const { texts, last, mayDrop } = await store.readForGuest({ ...guest, turn, now: host.now() });
        if (mayDrop) await store.dropGuestText({ linkId: guest.linkId, box: "down", below: guest.after });
        const isOver = gone.aborted || shutdown.aborted || isReplaced || host.monotonicMs() > until;
        if (texts.length > 0 || last || isOver) return { texts, last };
        await bell.wait(POLL_MS);
      }
    } finally {
      if (waits.get(guest.linkId) === replace) waits.delete(guest.linkId);
      off();
      for (const signal of [gone, shutdown]) signal.removeEventListener("abort", bell.ring);
    }
  }
}
