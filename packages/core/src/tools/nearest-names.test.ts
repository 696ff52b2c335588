import { expect, test } from "bun:test";
import { nearestNames } from "./nearest-names.ts";

test("a misspelt path is answered with the path that was meant", () => {
  const names = ["github.issues.create", "github.issues.list_for_repo", "slack.chat.post_message", "discover"];
  expect(nearestNames("github.issue.create", names, 1)).toEqual(["github.issues.create"]);
  expect(nearestNames("slack.chat.postMessage", names, 1)).toEqual(["slack.chat.post_message"]);
  expect(nearestNames("discovr", names)).toEqual(["discover"]);
});

test("what looks like nothing is answered with nothing", () => {
  expect(nearestNames("zzzzzzzzzz", ["github.issues.create"])).toEqual([]);
  expect(nearestNames("", ["github.issues.create"])).toEqual([]);
  expect(nearestNames("anything", [])).toEqual([]);
});

test("the meant one is found among 100,000 names, and hostile paths are bounded", () => {
  const names = Array.from({ length: 100_000 }, (_, index) => `source${index % 50}.things.operation_number_${index}`);
  names[77_777] = "billing.invoices.finalize";
  const from = performance.now();
  expect(nearestNames("billing.invoice.finalise", names, 1)).toEqual(["billing.invoices.finalize"]);
  expect(nearestNames("x".repeat(1_000_000), names)).toEqual([]);
  expect(performance.now() - from).toBeLessThan(2_000);
});

test("names that are properties of every object are names like others", () => {
  expect(nearestNames("constructo", ["constructor", "__proto__"])).toEqual(["constructor"]);
});
