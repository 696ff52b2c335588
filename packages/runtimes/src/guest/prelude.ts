/**
 * The source of what every guest sees before its own code runs: one function of `host`, made of the pieces in prelude/.
 * The pieces are guest code: they run inside the engine, share one strict scope, and reach the host only through `host(op, …)`.
 * Must stay deterministic: a task pinned to this prelude replays against it.
 */
import capture from "./prelude/capture.guest.js" with { type: "text" };
import clockRandom from "./prelude/clock-random.guest.js" with { type: "text" };
import nativeEngine from "./prelude/native-engine.guest.js" with { type: "text" };
import format from "./prelude/format.guest.js" with { type: "text" };
import site from "./prelude/site.guest.js" with { type: "text" };
import text from "./prelude/text.guest.js" with { type: "text" };
import tools from "./prelude/tools.guest.js" with { type: "text" };
import url from "./prelude/url.guest.js" with { type: "text" };
import urlClasses from "./prelude/url-classes.guest.js" with { type: "text" };
import clone from "./prelude/clone.guest.js" with { type: "text" };

/** First argument of `host`. */
export const hostOps = { call: 0, timer: 1, clear: 2, output: 3, stackOverflow: 4, clock: 5 } as const;

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
export const preludeVersion = 2;

const opening = [
  '(function (host) { "use strict";',
  `const opCall = ${hostOps.call}, opTimer = ${hostOps.timer}, opClear = ${hostOps.clear}, opOutput = ${hostOps.output}, opStackOverflow = ${hostOps.stackOverflow};`,
];
const pieces = [capture, clockRandom, tools, format, text, url, urlClasses, clone];

export const preludeSource = [...opening, ...pieces, site, `return [${guestEntries.join(", ")}];`, "})"].join("\n");

/**
 * The same for a native engine, with what such an engine lacks or has too much of. It hands out one function more: it throws what a
 * microtask let out, if one did.
 */
export const nativePreludeSource = [
  ...opening,
  `const opClock = ${hostOps.clock};`,
  nativeEngine,
  ...pieces,
  `return [${[...guestEntries, "takeMicrotaskFailure"].join(", ")}];`,
  "})",
].join("\n");
