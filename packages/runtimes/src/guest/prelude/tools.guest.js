// Piece 4: the bridge. `host(op, …)` asks the host for a call, a timer or a line of output; the functions at the end are what the host calls.
// Ids come from the host, so a guest cannot make one up; promises are kept here, so only strings and numbers cross.
const pendingCalls = new Map(); // id -> { resolve, reject, path, site }
const pendingTimers = new Map(); // id -> { run, args, every, handle }
const timerIds = new Map(); // what the guest holds -> id of the timer that is armed for it
const toolPaths = new WeakMap(); // a step of `tools` -> its path
const toolErrors = new WeakMap(); // the error object that carried a call's outcome -> the call's id, or why it never was one (refusals)
const refusals = { __proto__: null, inputTooLarge: -2, inputInvalid: -3, pathTooLong: -4 }; // told to the host by number; guest-run.ts knows the codes

class ToolError extends Error {}
const toolErrorPrototype = ToolError.prototype;
define(toolErrorPrototype, "name", "ToolError");
expose("ToolError", ToolError);

const makeToolError = (fields, id, site) => {
  const error = setPrototypeOf(new Error(fields.message), toolErrorPrototype);
  const set = (name, value) =>
    defineProperty(error, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  set("code", fields.code);
  set("toolPath", fields.toolPath);
  if (fields.status !== undefined) set("status", fields.status);
  if (fields.body !== undefined) set("body", fields.body);
  const stack = stackOfSite(site);
  define(error, "stack", sliceText(stack, indexOfText(stack, "\n", indexOfText(stack, "\n") + 1) + 1)); // without the two frames of the prelude
  weakSet(toolErrors, error, id);
  return error;
};

const callTool = (path, args) => {
  // Its stack is written only when the call fails: that is dear on some engines.
  const site = new Error();
  let json, problem;
  try {
    json = stringifyJson(args.length === 0 || args[0] === undefined ? {} : args[0]);
    if (json === undefined) problem = `a ${typeof args[0]} cannot be written as JSON`;
  } catch (error) {
    if (isStackOverflow(error)) host(opStackOverflow);
    problem = `it cannot be written as JSON (${messageOf(error)})`;
  }
  const id = problem === undefined ? host(opCall, path, json, lineOfSite(site)) : -1;
  if (id >= 0)
    return new Promise((resolve, reject) => mapSet(pendingCalls, id, { __proto__: null, resolve, reject, path, site }));
  const refusal =
    id === -2 ? refusals.pathTooLong : problem === undefined ? refusals.inputTooLarge : refusals.inputInvalid;
  const fields =
    id === -2
      ? {
          __proto__: null,
          code: "tool.not_found",
          message: "No tool has so long a path",
          toolPath: sliceText(path, 0, 200),
        }
      : problem === undefined
        ? {
            __proto__: null,
            code: "call.input_too_large",
            message: `The input of ${path} is over the limit of ${inputLimit} bytes`,
            toolPath: path,
          }
        : {
            __proto__: null,
            code: "call.input_invalid",
            message: `The input of ${path} must be a JSON value: ${problem}`,
            toolPath: path,
          };
  return new Promise((_resolve, reject) => reject(makeToolError(fields, refusal, site)));
};

const makeStep = (path) => {
  const known = createObject(null);
  const target = () => {};
  const step = new Proxy(target, {
    __proto__: null,
    get(_target, name) {
      if (typeof name === "symbol" || name === "then" || name === "toJSON") return undefined;
      return (known[name] ??= makeStep(path === "" ? name : `${path}.${name}`));
    },
    apply(_target, _self, args) {
      if (path === "")
        throw new TypeError("tools is not a tool: call one of its members, such as tools.discover({ query })");
      return callTool(path, args);
    },
    has(_target, name) {
      return typeof name === "string" && name !== "then" && name !== "toJSON";
    },
    set() {
      throw new TypeError("tools cannot be changed");
    },
    defineProperty() {
      throw new TypeError("tools cannot be changed");
    },
    deleteProperty() {
      throw new TypeError("tools cannot be changed");
    },
    setPrototypeOf() {
      return false;
    },
    preventExtensions() {
      return false;
    },
    getPrototypeOf() {
      return null;
    },
    ownKeys() {
      return [];
    },
  });
  weakSet(toolPaths, step, path);
  return step;
};
expose("tools", makeStep(""));

let nextHandle = 1;
let lastTimer = -1;
const armTimer = (run, delay, args, every, handle) => {
  let delayMs = +delay;
  if (!(delayMs > 0)) delayMs = 0;
  if (every && delayMs < 1) delayMs = 1;
  const id = host(opTimer, min(delayMs, 2147483647));
  if (id < 0) throw new RangeError("too many timers");
  lastTimer = id;
  mapSet(pendingTimers, id, { __proto__: null, run, args, every, delayMs, handle });
  mapSet(timerIds, handle, id);
};
const setTimer = (run, delay, args, every) => {
  if (typeof run !== "function") throw new TypeError("a timer takes a function");
  const handle = nextHandle++;
  armTimer(run, delay, args, every, handle);
  return handle;
};
const clearTimer = (handle) => {
  const id = mapGet(timerIds, handle);
  if (id === undefined) return;
  mapDelete(timerIds, handle);
  if (mapDelete(pendingTimers, id)) host(opClear, id);
};
expose("setTimeout", function setTimeout(run, delay, ...args) {
  return setTimer(run, delay, args, false);
});
expose("setInterval", function setInterval(run, delay, ...args) {
  return setTimer(run, delay, args, true);
});
expose("clearTimeout", function clearTimeout(handle) {
  clearTimer(handle);
});
expose("clearInterval", function clearInterval(handle) {
  clearTimer(handle);
});

const messageOf = (error) => {
  try {
    return typeof error === "object" && error !== null && typeof error.message === "string"
      ? sliceText(error.message, 0, maxMessageChars)
      : formatLine([error]);
  } catch {
    return "unreadable error";
  }
};
const maxMessageChars = 10000;
const isStackOverflow = (error) => {
  try {
    return (
      isErrorObject(error) &&
      (error.message === "Maximum call stack size exceeded" || error.message === "stack overflow")
    );
  } catch {
    return false;
  }
};

// What the host calls. None of these lets the guest's own failures out as anything but a value or a throw of the guest's own error.
let inputLimit = 0;
const start = (a, b, c, d, maxInputBytes) => {
  seedRandom(a, b, c, d);
  inputLimit = maxInputBytes;
  clockStart = readClock();
};
const deliverResult = (id, json) => {
  const call = mapGet(pendingCalls, id);
  if (call === undefined) return false;
  mapDelete(pendingCalls, id);
  call.resolve(parseJson(json));
  return true;
};
const deliverError = (id, json) => {
  const call = mapGet(pendingCalls, id);
  if (call === undefined) return false;
  mapDelete(pendingCalls, id);
  call.reject(makeToolError(setPrototypeOf(parseJson(json), null), id, call.site));
  return true;
};
const fireTimer = (id) => {
  const timer = mapGet(pendingTimers, id);
  // One that was due together with another may have been cleared by that other; one that was never set is a divergence.
  if (timer === undefined) return id <= lastTimer;
  mapDelete(pendingTimers, id);
  mapDelete(timerIds, timer.handle);
  if (timer.every) armTimer(timer.run, timer.delayMs, timer.args, true, timer.handle);
  applyFunction(timer.run, undefined, timer.args);
  return true;
};
const writeResult = (value) => (value === undefined ? "null" : stringifyJson(value));

const describeError = (error) => {
  let name = "Error",
    message,
    stack = "";
  if (
    isErrorObject(error) ||
    (typeof error === "object" && error !== null && weakGet(toolPaths, error) === undefined)
  ) {
    try {
      if (typeof error.name === "string" && error.name !== "") name = sliceText(error.name, 0, 200);
    } catch {
      /* unreadable */
    }
    try {
      if (typeof error.message === "string") message = sliceText(error.message, 0, maxMessageChars);
    } catch {
      /* unreadable */
    }
    try {
      if (typeof error.stack === "string") stack = sliceText(error.stack, 0, 4000);
    } catch {
      /* unreadable */
    }
  }
  message ??= `${sliceText(formatLine([error]), 0, maxMessageChars)} was thrown`;
  const call = typeof error === "object" && error !== null ? (weakGet(toolErrors, error) ?? -1) : -1;
  // Piece by piece: the engine's own walk over an object can be broken by setters on Object.prototype, that over a string cannot.
  return `{"name":${stringifyJson(name)},"message":${stringifyJson(message)},"stack":${stringifyJson(stack)},"call":${call}}`;
};
