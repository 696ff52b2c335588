import { expect, test } from "bun:test";
import { TurnMeter } from "./turn-meter.ts";

function makeMeter() {
  const time = { now: 1_000, cpu: 50, lookups: 0 };
  const meter = new TurnMeter({
    nowMs: () => time.now,
    cpuMs: () => {
      time.lookups += 1;
      return time.cpu;
    },
  });
  const turn = (passedMs: number, cpuMs: number): number => {
    meter.enter();
    const from = meter.read();
    time.now += passedMs;
    time.cpu += cpuMs;
    return meter.read() - from;
  };
  return { time, turn };
}

test("a short turn counts as long as it took, and nobody asks the system", () => {
  const { time, turn } = makeMeter();
  expect(turn(0.25, 0.1)).toBe(0.25);
  expect(time.lookups).toBe(1);
});

test("a long turn counts by the system's clock, not by what others took of the core, and never as more than passed", () => {
  const { turn } = makeMeter();
  expect(turn(100, 40)).toBe(40);
  expect(turn(100, 300)).toBe(100);
  expect(turn(10, 10)).toBe(10);
});

test("what the process does between turns is not the guest's", () => {
  const { time, turn } = makeMeter();
  for (let at = 0; at < 1_000; at += 1) {
    turn(0.125, 0.125);
    time.now += 1;
    time.cpu += 0.125;
  }
  expect(turn(1_000, 500)).toBeLessThan(500 + 64 * 0.25);
});
