// Piece 3: console. Readable text for any value, bounded in depth and length; a hostile getter or proxy costs a placeholder.
const maxFormatDepth = 5,
  maxFormatItems = 200,
  maxFormatChars = 100000;
const identifierPattern = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

const formatValue = (value, depth, seen, budget) => {
  if (typeof value === "string") return depth === 0 ? value : stringifyJson(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "symbol") return String(value);
  if (typeof value === "number") return value === 0 && 1 / value < 0 ? "-0" : `${value}`;
  if (value === null || (typeof value !== "object" && typeof value !== "function")) return `${value}`;
  if (budget.chars <= 0) return "…";
  if (setHas(seen, value)) return "[Circular]";
  setAdd(seen, value);
  let text;
  try {
    text = formatObject(value, depth, seen, budget);
  } catch {
    text = "[unreadable]";
  }
  setDelete(seen, value);
  budget.chars -= text.length;
  return text;
};

const formatObject = (value, depth, seen, budget) => {
  if (weakGet(toolPaths, value) !== undefined) return `[tools.${weakGet(toolPaths, value)}]`;
  if (typeof value === "function") {
    const name = getOwnPropertyDescriptor(value, "name");
    return name && typeof name.value === "string" && name.value !== "" ? `[Function ${name.value}]` : "[Function]";
  }
  const brand = brandOf(value);
  if (brand === "Error") return formatError(value, depth, seen, budget);
  if (brand === "Date") return isNaNNumber(dateTime(value)) ? "Invalid Date" : dateIso(value);
  if (brand === "RegExp") return `/${regExpSource(value)}/${regExpFlags(value)}`;
  if (brand === "Promise") return "Promise {}";
  if (brand === "ArrayBuffer") return `ArrayBuffer(${bufferLength(value)})`;
  if (depth >= maxFormatDepth) return isArray(value) ? "[Array]" : "[Object]";
  if (brand === "Map" || brand === "Set") return formatCollection(value, brand, depth, seen, budget);
  const tag = isView(value) ? typedArrayTag(value) : undefined;
  if (isArray(value) || tag !== undefined) {
    const list = formatList(value, tag === undefined ? value.length : typedArrayLength(value), depth, seen, budget);
    return tag === undefined ? list : `${tag} ${list}`;
  }
  return formatRecord(value, depth, seen, budget);
};

const isNaNNumber = (number) => number !== number;

// By what the engine says it is, not by what its prototype or toStringTag pretends.
const brandChecks = [
  ["Map", mapSize],
  ["Set", setSize],
  ["Date", dateTime],
  ["ArrayBuffer", bufferLength],
];
const brandOf = (value) => {
  if (isErrorObject(value)) return "Error";
  for (let i = 0; i < brandChecks.length; i++) {
    try {
      brandChecks[i][1](value);
      return brandChecks[i][0];
    } catch {
      /* not that one */
    }
  }
  try {
    if (value !== RegExp.prototype) {
      regExpSource(value);
      return "RegExp";
    }
  } catch {
    /* not that one */
  }
  return isPromiseObject(value) ? "Promise" : undefined;
};
const isErrorObject = Error.isError ?? ((value) => value instanceof Error);
const isPromiseObject = (value) => {
  for (let proto = getPrototypeOf(value); proto !== null; proto = getPrototypeOf(proto))
    if (proto === promisePrototype) return true;
  return false;
};
const promisePrototype = Promise.prototype;

const formatList = (value, length, depth, seen, budget) => {
  let text = "";
  const shown = min(length, maxFormatItems);
  for (let i = 0; i < shown; i++) text += (i === 0 ? "" : ", ") + formatProperty(value, i, depth, seen, budget);
  if (length > shown) text += `, … ${length - shown} more`;
  return `[${text}]`;
};

const formatProperty = (value, key, depth, seen, budget) => {
  const property = getOwnPropertyDescriptor(value, key);
  if (property === undefined) return "<empty>";
  return "value" in property ? formatValue(property.value, depth + 1, seen, budget) : "[Getter]";
};

const formatRecord = (value, depth, seen, budget) => {
  const names = objectKeys(value);
  let text = "";
  const shown = min(names.length, maxFormatItems);
  for (let i = 0; i < shown; i++) {
    const name = names[i];
    const label = testRegExp(identifierPattern, name) !== null ? name : stringifyJson(name);
    text += `${i === 0 ? "" : ", "}${label}: ${formatProperty(value, name, depth, seen, budget)}`;
  }
  if (names.length > shown) text += `, … ${names.length - shown} more`;
  const prefix = className(value);
  return text === "" ? `${prefix}{}` : `${prefix}{ ${text} }`;
};

const className = (value) => {
  const proto = getPrototypeOf(value);
  if (proto === null || proto === Object.prototype) return "";
  const maker = getOwnPropertyDescriptor(proto, "constructor")?.value;
  const name = typeof maker === "function" ? getOwnPropertyDescriptor(maker, "name")?.value : undefined;
  return typeof name === "string" && name !== "" ? `${name} ` : "";
};

const formatCollection = (value, brand, depth, seen, budget) => {
  let text = "",
    count = 0;
  const show = (item, key) => {
    if (count++ >= maxFormatItems) return;
    const label = brand === "Map" ? `${formatValue(key, depth + 1, seen, budget)} => ` : "";
    text += `${count === 1 ? "" : ", "}${label}${formatValue(item, depth + 1, seen, budget)}`;
  };
  if (brand === "Map") mapForEach(value, show);
  else setForEach(value, show);
  if (count > maxFormatItems) text += `, … ${count - maxFormatItems} more`;
  return text === "" ? `${brand}(0) {}` : `${brand}(${count}) { ${text} }`;
};

const formatError = (error, depth, seen, budget) => {
  let text = `${error.name}: ${error.message}`;
  const call = weakGet(toolErrors, error);
  if (call !== undefined) text += ` (${error.code} from ${error.toolPath})`;
  if (depth === 0 && typeof error.stack === "string" && error.stack !== "")
    text += `\n${replaceText(error.stack, /\n$/, "")}`;
  const cause = getOwnPropertyDescriptor(error, "cause");
  if (cause !== undefined && depth < maxFormatDepth)
    text += `\n  [cause]: ${formatValue(cause.value, depth + 1, seen, budget)}`;
  return text;
};

const formatLine = (values) => {
  let text = "";
  const budget = { __proto__: null, chars: maxFormatChars };
  for (let i = 0; i < values.length; i++) text += (i === 0 ? "" : " ") + formatValue(values[i], 0, new Set(), budget);
  return text;
};

const console = createObject(null);
for (const name of ["log", "info", "debug", "warn", "error", "trace"]) {
  const stream = name === "log" || name === "info" || name === "debug" ? 1 : 2;
  define(
    console,
    name,
    {
      [name](...values) {
        host(opOutput, stream, formatLine(values));
      },
    }[name],
  );
}
setPrototypeOf(console, Object.prototype);
expose("console", console);
