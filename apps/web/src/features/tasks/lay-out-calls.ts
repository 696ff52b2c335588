/**
 * Where the calls of a task stand on one line of time. Waiting for people may take days and work milliseconds: stretches in
 * which nothing but people was waited for are shortened, so that the work stays readable. A pure function of times.
 */
import type { Call } from "@executor/client";

export interface Bar {
  callId: string;
  /** Fractions of the width, from 0 to 1. `wait` is absent when nobody was asked. */
  wait?: { from: number; to: number };
  run?: { from: number; to: number };
  waitedMs: number;
  ranMs: number;
}

/** A wait for people is drawn at most this long, as a share of all work. */
const WAIT_SHARE = 0.25;
const MIN_WORK_MS = 40;

export function layOutCalls(calls: readonly Call[], nowMs: number): Bar[] {
  const spans = calls.map((call) => spanOf(call, nowMs));
  const place = compress(spans);
  return spans.map(({ callId, asked, sent, done }) => ({
    callId,
    waitedMs: asked === null ? 0 : (sent ?? done) - asked,
    ranMs: sent === null ? 0 : done - sent,
    ...(asked !== null && { wait: { from: place(asked), to: place(sent ?? done) } }),
    ...(sent !== null && { run: { from: place(sent), to: place(done) } }),
  }));
}

interface Span {
  callId: string;
  begun: number;
  asked: number | null;
  sent: number | null;
  done: number;
}

function spanOf(call: Call, nowMs: number): Span {
  const begun = Date.parse(call.requestedAt);
  const sent = call.sentAt === undefined ? null : Date.parse(call.sentAt);
  const done = call.finishedAt === undefined ? Math.max(nowMs, begun) : Date.parse(call.finishedAt);
  const isAsked = call.approvalId !== undefined || call.status === "waiting";
  return { callId: call.callId, begun, asked: isAsked ? begun : null, sent, done };
}

/** From a time to its place: stretches between two moments keep their length, but those that only people filled. */
function compress(spans: readonly Span[]): (at: number) => number {
  const moments = [
    ...new Set(spans.flatMap(({ begun, sent, done }) => [begun, ...(sent === null ? [] : [sent]), done])),
  ].sort((a, b) => a - b);
  const works = spans.flatMap(({ sent, done }) => (sent === null ? [] : [{ from: sent, to: done }]));
  const waits = spans.flatMap(({ asked, sent, done }) => (asked === null ? [] : [{ from: asked, to: sent ?? done }]));
  const covers = (list: { from: number; to: number }[], from: number, to: number) =>
    list.some((each) => each.from <= from && each.to >= to && to > from);
  const steps = moments.slice(1).map((to, at) => {
    const from = moments[at] ?? to;
    return { from, to, isWaitOnly: covers(waits, from, to) && !covers(works, from, to) };
  });
  const workMs = Math.max(
    MIN_WORK_MS,
    steps.filter(({ isWaitOnly }) => !isWaitOnly).reduce((sum, { from, to }) => sum + to - from, 0),
  );
  const places = new Map<number, number>([[moments[0] ?? 0, 0]]);
  let total = 0;
  for (const { from, to, isWaitOnly } of steps) {
    total += isWaitOnly ? Math.min(to - from, workMs * WAIT_SHARE) : to - from;
    places.set(to, total);
  }
  return (at) => (total === 0 ? 0 : (places.get(at) ?? 0) / total);
}
