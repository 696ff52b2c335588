// Piece 7: structuredClone for the values a guest can have: primitives, plain objects, arrays, Map, Set, Date, RegExp, Error, buffers and views; cycles kept.
const refuseClone = (what) => {
  throw new DOMException(`${what} could not be cloned.`, "DataCloneError");
};
const wrapperChecks = [
  uncurry(Number.prototype.valueOf),
  uncurry(String.prototype.valueOf),
  uncurry(globalThis.Boolean.prototype.valueOf),
  uncurry(BigInt.prototype.valueOf),
];
const errorMakers = createObject(null);
for (const name of ["Error", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"])
  errorMakers[name] = globalThis[name];
const viewMakers = createObject(null);
for (const name of ownKeys(globalThis)) {
  const maker = globalThis[name];
  if (typeof maker === "function" && getPrototypeOf(maker) === getPrototypeOf(Uint8Array)) viewMakers[name] = maker;
}

const cloneValue = (value, seen) => {
  if (typeof value === "symbol") refuseClone("A symbol");
  if (typeof value === "function") refuseClone("A function");
  if (typeof value !== "object" || value === null) return value;
  if (mapHas(seen, value)) return mapGet(seen, value);
  const keep = (copy) => {
    mapSet(seen, value, copy);
    return copy;
  };
  const brand = brandOf(value);
  if (brand === "Promise") refuseClone("A promise");
  if (brand === "Date") return keep(new Date(dateTime(value)));
  if (brand === "RegExp") return keep(new RegExp(regExpSource(value), regExpFlags(value)));
  if (brand === "ArrayBuffer") return keep(bufferSlice(value, 0));
  if (brand === "Error") return cloneError(value, seen, keep);
  if (isView(value)) return cloneView(value, seen, keep);
  if (brand === "Map" || brand === "Set") return cloneCollection(value, brand, seen, keep);
  for (let i = 0; i < wrapperChecks.length; i++) {
    let inner;
    try {
      inner = wrapperChecks[i](value);
    } catch {
      continue;
    }
    return keep(Object(inner));
  }
  const copy = keep(isArray(value) ? [] : {});
  if (isArray(value)) copy.length = value.length;
  const names = objectKeys(value);
  for (let i = 0; i < names.length; i++) {
    defineProperty(copy, names[i], {
      __proto__: null,
      value: cloneValue(value[names[i]], seen),
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
  return copy;
};

const cloneError = (value, seen, keep) => {
  const copy = keep(new (errorMakers[`${value.name}`] ?? Error)(`${value.message}`));
  if (typeof value.stack === "string") define(copy, "stack", value.stack);
  const cause = getOwnPropertyDescriptor(value, "cause");
  if (cause !== undefined && "value" in cause) define(copy, "cause", cloneValue(cause.value, seen));
  return copy;
};

const cloneView = (value, seen, keep) => {
  const tag = typedArrayTag(value);
  if (tag === undefined)
    return keep(new DataView(cloneValue(viewBuffer(value), seen), viewOffset(value), viewBytes(value)));
  return keep(
    new viewMakers[tag](cloneValue(typedArrayBuffer(value), seen), typedArrayOffset(value), typedArrayLength(value)),
  );
};

const cloneCollection = (value, brand, seen, keep) => {
  if (brand === "Map") {
    const copy = keep(new Map());
    mapForEach(value, (item, key) => {
      mapSet(copy, cloneValue(key, seen), cloneValue(item, seen));
    });
    return copy;
  }
  const copy = keep(new Set());
  setForEach(value, (item) => {
    setAdd(copy, cloneValue(item, seen));
  });
  return copy;
};

expose("structuredClone", function structuredClone(value) {
  if (arguments.length === 0) throw new TypeError("structuredClone takes a value");
  return cloneValue(value, new Map());
});
