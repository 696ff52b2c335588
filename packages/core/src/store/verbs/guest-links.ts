/**
 * What passes between a run and its guest in a VM. The guest can only call us, and the server it reaches is not the worker
 * that holds the lease, so both leave their text here: the guest a turn (in parts), the run its answer.
 * Nothing here looks into the text, gates or performs: that is the run's. What a guest's side says counts only while its
 * token is good and the run that opened the link holds the lease: a finished, paused, cancelled or lost run is silent at once.
 */
import { AppError } from "@executor/contracts/error";
import { splitText } from "../large-text.ts";
import type { Fence } from "../progress.ts";
import type { Row } from "../tables.ts";
import type { Tx } from "../tx.ts";
import { holdsLease } from "./claim-task.ts";

type Link = Row<"guestLinks">;
type Box = "up" | "down";

/** Chunks read or removed in one transaction: 16 of them are 12 MB at most. */
const AT_ONCE = 16;
/** A VM that sends faster than its run reads must wait. */
const MAX_UNREAD = 600;

/** One link at a time: the older ones of the task die here. Tells which, for closeGuestLink to remove. */
export async function openGuestLink(
  tx: Tx,
  args: { fence: Fence; linkId: string; tokenHash: string; expiresAt: number; now: number },
): Promise<{ stale: string[] }> {
  const { fence, linkId, tokenHash, expiresAt, now } = args;
  const task = await tx.get("tasks", fence.taskId);
  if (!task || !holdsLease(task, fence))
    throw new AppError(
      "lease.lost",
      `Run ${fence.attempt} no longer holds task ${fence.taskId}; its guest gets no link.`,
    );
  const older = await tx.find("guestLinks", { index: "byTask", eq: [fence.taskId], limit: 100 });
  for (const link of older) await tx.update("guestLinks", link.linkId, { tokenHash: "" });
  const { taskId, workspaceId, workerId, attempt } = { ...fence, workspaceId: task.workspaceId };
  const ids = { linkId, taskId, workspaceId, workerId, attempt, tokenHash, runner: "", createdAt: now, expiresAt };
  const counts = { turn: 0, turnEnded: 0, turnParts: 0, upChunks: 0, upDropped: 0, downChunks: 0, downDropped: 0 };
  await tx.insert("guestLinks", { ...ids, ...counts });
  return { stale: older.map((link) => link.linkId) };
}

/** Who speaks for a guest, and how far it has read. */
export interface GuestSide {
  linkId: string;
  tokenHash: string;
  /** A word the process in the VM made up when it started: a command that was run twice speaks with two. */
  runner: string;
  /** Chunks of answers it has got. */
  after: number;
  now: number;
}

/** Refuses whoever has no good token, before anything of what they send is read. */
export async function checkGuest(tx: Tx, args: { linkId: string; tokenHash: string; now: number }): Promise<void> {
  await goodLink(tx, { ...args, runner: null });
}

/** Takes in one part of a turn. The same part again is fine: the guest repeats what it got no answer to. */
export async function sendFromGuest(
  tx: Tx,
  args: GuestSide & { turn: number; part: number; text: string; last: boolean },
): Promise<void> {
  const { turn, part, text, last } = args;
  const link = await goodLink(tx, args);
  if (turn < link.turn || (turn === link.turn && (part < link.turnParts || link.turnEnded === 1))) return;
  if (turn > link.turn || part > link.turnParts)
    throw new AppError(
      "request.invalid",
      `body: part ${part} of turn ${turn} came, and part ${link.turnParts} of turn ${link.turn} is expected.`,
    );
  if (link.upChunks - link.upDropped > MAX_UNREAD)
    throw new AppError("request.rate_limited", "The run has not read what was sent before. Try again in a moment.", {
      data: { retryAfterSeconds: 1 },
    });
  const upChunks = await put(tx, link, "up", text);
  const downDropped = await drop(tx, link, "down", args.after);
  const progress = { upChunks, downDropped, turnParts: part + 1, turnEnded: last ? 1 : 0 };
  await tx.update("guestLinks", link.linkId, { ...progress, runner: args.runner });
}

/** The answer to a turn, as far as it is there beyond what the guest has. Nothing yet: no texts and not the last. */
export async function readForGuest(
  tx: Tx,
  args: GuestSide & { turn: number },
): Promise<{ texts: string[]; last: boolean; mayDrop: boolean }> {
  const link = await goodLink(tx, args);
  const texts = await textsAfter(tx, link, "down", args.after);
  const isAnswered = link.turn > args.turn;
  return {
    texts,
    last: isAnswered && args.after + texts.length === link.downChunks,
    mayDrop: args.after - link.downDropped >= AT_ONCE,
  };
}

/** What came from the guest since `after` chunks. Null: the link is gone or was replaced. */
export async function readFromGuest(
  tx: Tx,
  args: { linkId: string; after: number },
): Promise<{ texts: string[]; turn: number; ended: boolean; runner: string } | null> {
  const link = await tx.get("guestLinks", args.linkId);
  if (!link || link.tokenHash === "") return null;
  const texts = await textsAfter(tx, link, "up", args.after);
  const ended = link.turnEnded === 1 && args.after + texts.length === link.upChunks;
  return { texts, turn: link.turn, ended, runner: link.runner };
}

/** A part of the answer to a turn; after the last one the guest is in its next turn. `taken`: chunks of the guest's that were read. */
export async function answerGuest(
  tx: Tx,
  args: { linkId: string; turn: number; text: string; last: boolean; taken: number },
): Promise<void> {
  const { linkId, turn, text, last, taken } = args;
  const link = await tx.get("guestLinks", linkId);
  if (!link || link.tokenHash === "" || link.turn !== turn || link.turnEnded !== 1)
    throw new AppError("lease.lost", `The guest of ${linkId} is not waiting for an answer to turn ${turn}.`);
  const downChunks = await put(tx, link, "down", text);
  const upDropped = await drop(tx, link, "up", taken);
  const next = last ? { turn: turn + 1, turnEnded: 0, turnParts: 0 } : {};
  await tx.update("guestLinks", linkId, { downChunks, upDropped, ...next });
}

/** Removes chunks that were read, a few at a time. Doing it again does no harm. */
export async function dropGuestText(tx: Tx, args: { linkId: string; box: Box; below: number }): Promise<void> {
  const link = await tx.get("guestLinks", args.linkId);
  if (!link) return;
  const dropped = await drop(tx, link, args.box, args.below);
  await tx.update("guestLinks", args.linkId, args.box === "up" ? { upDropped: dropped } : { downDropped: dropped });
}

/** Ends a link and removes it; false: there is more of its text to remove, call again. */
export async function closeGuestLink(tx: Tx, { linkId }: { linkId: string }): Promise<boolean> {
  const link = await tx.get("guestLinks", linkId);
  if (!link) return true;
  const upDropped = await drop(tx, link, "up", link.upChunks);
  const downDropped = upDropped === link.upChunks ? await drop(tx, link, "down", link.downChunks) : link.downDropped;
  if (upDropped === link.upChunks && downDropped === link.downChunks) {
    await tx.remove("guestLinks", linkId);
    return true;
  }
  await tx.update("guestLinks", linkId, { tokenHash: "", upDropped, downDropped });
  return false;
}

/** Of runs whose worker died and whose task never ran again; a worker sweeps them up. */
export async function listExpiredGuestLinks(tx: Tx, args: { now: number; limit: number }): Promise<string[]> {
  const expired = await tx.find("guestLinks", { index: "byExpiry", before: args.now, limit: args.limit });
  return expired.map(({ linkId }) => linkId);
}

/** One answer for everything that is wrong with a token: who holds a bad one learns nothing. */
async function goodLink(
  tx: Tx,
  { linkId, tokenHash, runner, now }: Pick<GuestSide, "linkId" | "tokenHash" | "now"> & { runner: string | null },
): Promise<Link> {
  const link = await tx.get("guestLinks", linkId);
  const task = link && (await tx.get("tasks", link.taskId));
  const isGood =
    link &&
    task &&
    tokenHash !== "" &&
    link.tokenHash === tokenHash &&
    link.expiresAt > now &&
    (runner === null || link.runner === "" || link.runner === runner) &&
    holdsLease(task, link);
  if (!isGood)
    throw new AppError(
      "auth.invalid",
      "This token is not good for this run: it is over, or the token belongs to another.",
    );
  return link;
}

const ownerOf = (linkId: string, box: Box): string => `link/${linkId}/${box}`;

async function put(tx: Tx, link: Link, box: Box, text: string): Promise<number> {
  const owner = ownerOf(link.linkId, box);
  let part = box === "up" ? link.upChunks : link.downChunks;
  for (const body of splitText(text)) {
    await tx.insert("chunks", { chunkKey: `${owner}/${part}`, owner, part, body });
    part++;
  }
  return part;
}

async function textsAfter(tx: Tx, link: Link, box: Box, after: number): Promise<string[]> {
  const owner = ownerOf(link.linkId, box);
  const rows = await tx.find("chunks", { index: "byOwner", eq: [owner], after: after - 1, limit: AT_ONCE });
  return rows.map(({ body }) => body);
}

async function drop(tx: Tx, link: Link, box: Box, below: number): Promise<number> {
  const [from, there] = box === "up" ? [link.upDropped, link.upChunks] : [link.downDropped, link.downChunks];
  const to = Math.max(from, Math.min(below, there, from + AT_ONCE));
  for (let part = from; part < to; part++) await tx.remove("chunks", `${ownerOf(link.linkId, box)}/${part}`);
  return to;
}
