import { expect, test } from "bun:test";
import { z } from "zod";
import type { Bearer } from "../http/authenticate.ts";
import { openTestApp } from "../testing/open-test-app.ts";
import { createTickets } from "./sealed-tickets.ts";

const Content = z.strictObject({ taskId: z.string() });
const bearer = (more: Partial<Bearer> = {}): Bearer => ({
  bearerId: "key_1",
  workspaceId: "ws_1",
  actorId: "actor_1",
  clientId: "client_1",
  role: "agent",
  installationAdmin: false,
  mayElicit: true,
  ...more,
});

test("a ticket opens for its bearer and purpose, for a day, unchanged, and tells nothing by itself", async () => {
  await using app = await openTestApp();
  let now = 1_000_000;
  const tickets = createTickets({ sealer: app.deps.sources.vault.sealer, now: () => now });
  const ticket = await tickets.seal("state", bearer(), { taskId: "task_1" });
  const open = (purpose = "state", who = bearer(), text = ticket) => tickets.open(purpose, who, text, Content);
  expect(await open()).toEqual({ taskId: "task_1" });
  expect(Buffer.from(ticket.split(".")[1] ?? "", "base64url").toString("latin1")).not.toContain("task_1");

  expect(await open("question")).toBeNull();
  for (const other of [{ bearerId: "key_2" }, { actorId: "actor_2" }, { workspaceId: "ws_2" }])
    expect([other, await open("state", bearer(other))]).toEqual([other, null]);
  for (let at = 0; at < ticket.length; at += 7) {
    const changed = ticket.slice(0, at) + (ticket[at] === "A" ? "B" : "A") + ticket.slice(at + 1);
    expect([at, await open("state", bearer(), changed)]).toEqual([at, null]);
  }
  // What it holds must be what is asked for.
  expect(await tickets.open("state", bearer(), ticket, z.strictObject({ other: z.string() }))).toBeNull();

  now += 24 * 3_600_000 - 1;
  expect(await open()).toEqual({ taskId: "task_1" });
  now += 2;
  expect(await open()).toBeNull();
});
