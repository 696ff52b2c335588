/**
 * The source of what every guest sees before its own code runs: one function of `host`, made of the pieces in prelude/.
 * The pieces are guest code: they run inside the engine, share one strict scope, and reach the host only through `host(op, …)`.
 * Must stay deterministic: a task pinned to this prelude replays against it.
 */
import capture from "./prelude/capture.guest.js" with { type: "text" };
import clockRandom from "./prelude/clock-random.guest.js" with { type: "text" };
import format from "./prelude/format.guest.js" with { type: "text" };
import text from "./prelude/text.guest.js" with { type: "text" };
import tools from "./prelude/tools.guest.js" with { type: "text" };
import url from "./prelude/url.guest.js" with { type: "text" };
import urlClasses from "./prelude/url-classes.guest.js" with { type: "text" };
import clone from "./prelude/clone.guest.js" with { type: "text" };

/** First argument of `host`. */
export const hostOps = { call: 0, timer: 1, clear: 2, output: 3, stackOverflow: 4 } as const;

/** What the prelude hands to the host, in this order. */
export const guestEntries = [
  "start",
  "deliverResult",
  "deliverError",
  "fireTimer",
  "writeResult",
  "describeError",
] as const;
export type GuestEntry = (typeof guestEntries)[number];

/** A change here means that old tasks may replay differently. */
export const preludeVersion = 1;

export const preludeSource = [
  '(function (host) { "use strict";',
  `const opCall = ${hostOps.call}, opTimer = ${hostOps.timer}, opClear = ${hostOps.clear}, opOutput = ${hostOps.output}, opStackOverflow = ${hostOps.stackOverflow};`,
  capture,
  clockRandom,
  tools,
  format,
  text,
  url,
  urlClasses,
  clone,
  `return [${guestEntries.join(", ")}];`,
  "})",
].join("\n");
