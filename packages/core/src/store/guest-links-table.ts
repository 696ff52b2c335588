/**
 * The way between a run and its guest in a VM, who can only call us: one row for each VM that was given a program.
 * Written by the guest-link verbs; the text itself lies in chunks, numbered over the life of the link.
 */
import { table } from "./table.ts";

export const guestLinks = table({
  key: "linkId",
  columns: {
    linkId: "text",
    taskId: "text",
    workspaceId: "text",
    workerId: "text",
    attempt: "int",
    /** Empty once the link is dead. */
    tokenHash: "text",
    /** Names the one process that may speak for the guest; empty until one has. */
    runner: "text",
    createdAt: "int",
    expiresAt: "int",
    /** The turn the guest is in, or has ended and awaits the answer to. */
    turn: "int",
    turnEnded: "int",
    /** Parts of this turn that were taken in. */
    turnParts: "int",
    upChunks: "int",
    upDropped: "int",
    downChunks: "int",
    downDropped: "int",
  },
  indexes: { byTask: ["taskId"], byExpiry: ["expiresAt"] },
});
