/**
 * Between the port's words (Delivery, Turn) and the frames of a child.
 * A child is on the untrusted side: a turn is rebuilt field by field, and one that does not fit means the child can no longer be believed.
 */
import type { Delivery, GuestEnd, Turn } from "@executor/core/ports/runtime";
import { deliveryKinds, type WireEnd } from "../guest/turn-parts.ts";
import type { Frame, ToChild, ToParent } from "./guest-frames.ts";

export interface DeliveryBatch {
  count: number;
  header: Extract<ToChild, { t: "advance" }>["d"];
  blobs: Uint8Array[];
}

/** A long replay is handed over in pieces, so that its neighbours in the child get their turns in between. */
const maxBatchDeliveries = 256;
const maxBatchBytes = 4_000_000;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function* encodeDeliveries(deliveries: readonly Delivery[]): Generator<DeliveryBatch> {
  let batch: DeliveryBatch = { count: 0, header: [], blobs: [] };
  let bytes = 0;
  for (const delivery of deliveries) {
    batch.count += 1;
    batch.header.push([deliveryKinds[delivery.kind], delivery.id, delivery.atMs]);
    if (delivery.kind !== "timer") {
      const blob = encoder.encode(delivery.kind === "result" ? delivery.json : writeError(delivery.error));
      batch.blobs.push(blob);
      bytes += blob.length;
    }
    if (batch.count < maxBatchDeliveries && bytes < maxBatchBytes) continue;
    yield batch;
    batch = { count: 0, header: [], blobs: [] };
    bytes = 0;
  }
  if (batch.count > 0 || deliveries.length === 0) yield batch;
}

function writeError(error: Extract<Delivery, { kind: "error" }>["error"]): string {
  const { bodyJson, ...fields } = error;
  const head = JSON.stringify(fields);
  return bodyJson === undefined ? head : `${head.slice(0, -1)},"body":${bodyJson}}`;
}

/** Throws when the frame is not a turn a healthy child could have sent. */
export function decodeTurn({ header, blobs }: Frame<Extract<ToParent, { t: "turn" }>>): Turn {
  const texts = blobs[Symbol.iterator]();
  const nextText = (): string => {
    const blob = texts.next();
    if (blob.done === true) throw new Error("a turn lacks a part");
    return decoder.decode(blob.value);
  };
  return {
    calls: header.calls.map(([id, path, after, line]) => ({
      id: whole(id),
      path: String(path),
      inputJson: nextText(),
      after: whole(after),
      ...lineIn(line),
    })),
    timers: header.timers.map(([id, delayMs, after]) => ({
      id: whole(id),
      delayMs: finite(delayMs),
      after: whole(after),
    })),
    clearedTimers: header.cleared.map(whole),
    output: header.out.map((stream) => ({ stream: stream === 1 ? "stdout" : "stderr", text: nextText() })),
    cpuMs: finite(header.cpuMs),
    ...(header.end === undefined ? {} : { end: decodeEnd(header.end, nextText) }),
  };
}

function decodeEnd(end: WireEnd, nextText: () => string): GuestEnd {
  if (end.kind === "returned") return { kind: "returned", resultJson: nextText() };
  if (end.kind === "stopped") return { kind: "stopped", code: end.code, message: String(end.message) };
  return {
    kind: "threw",
    name: String(end.name),
    message: String(end.message),
    ...(end.line === undefined ? {} : { line: whole(end.line) }),
    ...(end.callId === undefined ? {} : { callId: whole(end.callId) }),
    ...(end.code === undefined ? {} : { code: end.code }),
  };
}

/** Adds `next` to `turn`; `applied` deliveries of the same advance came before it. */
export function mergeTurn(turn: Turn | undefined, next: Turn, applied: number): Turn {
  if (turn === undefined) return next;
  for (const call of next.calls) turn.calls.push({ ...call, after: call.after + applied });
  for (const timer of next.timers) turn.timers.push({ ...timer, after: timer.after + applied });
  for (const id of next.clearedTimers) turn.clearedTimers.push(id);
  for (const line of next.output) turn.output.push(line);
  turn.cpuMs = next.cpuMs;
  if (next.end !== undefined) turn.end = next.end;
  return turn;
}

function whole(value: unknown): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0)
    throw new Error("a turn holds something that is no number");
  return value;
}

/** A line of the script, for people to read: nothing depends on it, so a strange one is left out. */
export function lineIn(value: unknown): { line?: number } {
  return Number.isSafeInteger(value) && (value as number) > 0 ? { line: value as number } : {};
}

function finite(value: unknown): number {
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0)
    throw new Error("a turn holds something that is no number");
  return value;
}
