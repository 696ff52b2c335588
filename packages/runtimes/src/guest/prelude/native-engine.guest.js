// Piece 0, for a native engine only (V8, a context of its own): what QuickJS gives or leaves out by itself.
// Runs before the captures, so the later pieces and the guest see these as the engine's own.
let microtaskFailed = false,
  microtaskFailure;
let stackOfSite, lineOfSite;
{
  const {
    Date: EngineDate,
    Error: EngineError,
    Promise: EnginePromise,
    RangeError: EngineRangeError,
    String: EngineString,
  } = globalThis;
  const { construct, apply } = Reflect;
  const { defineProperty: defineOwn, hasOwn } = globalThis.Object;
  const { resolve: resolvePromise } = EnginePromise;
  const { then: thenPromise } = EnginePromise.prototype;
  const { toString: dateToString } = EngineDate.prototype;
  const setHidden = (target, name, value, writable) =>
    defineOwn(target, name, { __proto__: null, value, writable, enumerable: false, configurable: writable });

  // An error of the host's realm would carry its functions: the guest gets one of its own instead.
  const bareHost = host;
  host = (op, a, b, c) => {
    try {
      return bareHost(op, a, b, c);
    } catch {
      throw new EngineRangeError("Maximum call stack size exceeded");
    }
  };

  const GuestDate = function Date(...args) {
    if (new.target === undefined) return apply(dateToString, construct(EngineDate, [host(opClock)]), []);
    return construct(EngineDate, args.length === 0 ? [host(opClock)] : args, new.target);
  };
  setHidden(GuestDate, "prototype", EngineDate.prototype, false);
  setHidden(EngineDate.prototype, "constructor", GuestDate, true);
  defineOwn(GuestDate, "length", { __proto__: null, value: 7, configurable: true });
  setHidden(GuestDate, "parse", EngineDate.parse, true);
  setHidden(GuestDate, "UTC", EngineDate.UTC, true);
  const readHostClock = {
    now() {
      return host(opClock);
    },
  };
  setHidden(GuestDate, "now", readHostClock.now, true);
  setHidden(globalThis, "Date", GuestDate, true);

  // Stacks in the form QuickJS gives them, with the frames of the task and the prelude only.
  const frameText = (frame) => {
    const file = frame.getFileName();
    if (file !== "task.js" && file !== "executor.js") return "";
    const name = frame.getFunctionName();
    const place = file === "task.js" ? `task.js:${frame.getLineNumber()}:${frame.getColumnNumber()}` : "executor.js";
    return `    at ${name === null || name === "" ? "<anonymous>" : name} (${place})\n`;
  };
  const formatFrames = (frames) => {
    let text = "";
    for (let i = 0; i < frames.length; i++) text += frameText(frames[i]);
    return text;
  };
  // A stack costs this engine more than the call itself: of a call only the line is read (the text is made when it fails), and only of
  // the first calls, which keeps what a task can lose by it under 10 ms. A later call that asks a person has no line.
  let lineBudget = 200;
  let takesFrames = false,
    taken;
  const formatStack = {
    prepareStackTrace(_error, frames) {
      if (!takesFrames) return formatFrames(frames);
      taken = frames;
      return "";
    },
  };
  lineOfSite = (site) => {
    if (lineBudget-- <= 0) return 0;
    takesFrames = true;
    taken = undefined;
    try {
      void site.stack;
      if (taken === undefined) return 0;
      setHidden(site, "frames", taken, false);
      for (let i = 0; i < taken.length; i++)
        if (taken[i].getFileName() === "task.js") return taken[i].getLineNumber() || 0;
    } catch {
      /* no room on the stack */
    } finally {
      takesFrames = false;
    }
    return 0;
  };
  stackOfSite = (site) => {
    if (hasOwn(site, "frames")) return formatFrames(site.frames);
    return typeof site.stack === "string" ? site.stack : "";
  };
  setHidden(EngineError, "prepareStackTrace", formatStack.prepareStackTrace, false);

  const microtask = {
    queueMicrotask(run) {
      if (typeof run !== "function") throw new TypeError("queueMicrotask takes a function");
      const step = apply(resolvePromise, EnginePromise, []);
      apply(thenPromise, step, [
        () => {
          try {
            apply(run, undefined, []);
          } catch (error) {
            if (!microtaskFailed) microtaskFailure = error;
            microtaskFailed = true;
          }
        },
      ]);
    },
  };
  setHidden(globalThis, "queueMicrotask", microtask.queueMicrotask, true);

  const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const { charCodeAt: codeAt, charAt: charOf, replace: replaceIn } = EngineString.prototype;
  const codeOf = EngineString.fromCharCode;
  const binary = {
    btoa(value) {
      const text = `${value}`;
      let out = "";
      for (let i = 0; i < text.length; i += 3) {
        const [a, b, c] = [apply(codeAt, text, [i]), apply(codeAt, text, [i + 1]), apply(codeAt, text, [i + 2])];
        if (a > 255 || b > 255 || c > 255)
          throw new GuestException("btoa takes characters up to U+00FF only", "InvalidCharacterError");
        const bits = (a << 16) | (b << 8) | c;
        out += base64[bits >> 18] + base64[(bits >> 12) & 63];
        out += (i + 1 < text.length ? base64[(bits >> 6) & 63] : "=") + (i + 2 < text.length ? base64[bits & 63] : "=");
      }
      return out;
    },
    atob(value) {
      let text = apply(replaceIn, `${value}`, [/[\t\n\f\r ]+/g, ""]);
      if (text.length % 4 === 0) text = apply(replaceIn, text, [/==?$/, ""]);
      let out = "",
        bits = 0,
        held = 0;
      for (let i = 0; i < text.length; i++) {
        const digit = digits[apply(charOf, text, [i])];
        if (digit === undefined || text.length % 4 === 1)
          throw new GuestException("atob takes base64 only", "InvalidCharacterError");
        bits = ((bits << 6) | digit) & 0xffffff;
        held += 6;
        if (held >= 8) out += codeOf((bits >> (held -= 8)) & 255);
      }
      return out;
    },
  };
  const digits = { __proto__: null };
  for (let i = 0; i < 64; i++) digits[base64[i]] = i;
  setHidden(globalThis, "btoa", binary.btoa, true);
  setHidden(globalThis, "atob", binary.atob, true);

  const exceptionCodes = {
    __proto__: null,
    DataCloneError: 25,
    InvalidCharacterError: 5,
    QuotaExceededError: 22,
    SyntaxError: 12,
  };
  const GuestException = class DOMException extends EngineError {
    constructor(message = "", name = "Error") {
      super(message);
      setHidden(this, "name", `${name}`, true);
    }
    get code() {
      return exceptionCodes[this.name] ?? 0;
    }
  };
  setHidden(globalThis, "DOMException", GuestException, true);

  for (const name of ["WebAssembly", "ShadowRealm", "console"]) delete globalThis[name];
  delete EngineError.captureStackTrace;
}
// An error that a microtask let out, once.
const takeMicrotaskFailure = () => {
  if (!microtaskFailed) return;
  microtaskFailed = false;
  throw microtaskFailure;
};
