// Piece 1 of the prelude: everything it needs from the engine, taken before guest code can patch it.
// Later pieces share this scope and use these names only, never a method of a value the guest can reach.
const callFunction = Function.prototype.call;
const uncurry = callFunction.bind.bind(callFunction);
const {
  Promise,
  Error,
  TypeError,
  RangeError,
  Map,
  Set,
  WeakMap,
  Proxy,
  Symbol,
  Date,
  Object,
  Array,
  String,
  Number,
  BigInt,
  RegExp,
} = globalThis;
const { ArrayBuffer, Uint8Array, DataView, DOMException } = globalThis;
const { stringify: stringifyJson, parse: parseJson } = JSON;
const { floor, min, max, trunc, abs } = Math;
const {
  defineProperty,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  setPrototypeOf,
  create: createObject,
  keys: objectKeys,
  freeze,
} = Object;
const { ownKeys, apply: applyFunction } = Reflect;
const { isArray } = Array;
const { isView } = ArrayBuffer;
const { fromCharCode, fromCodePoint } = String;
const { isInteger } = Number;
const mapGet = uncurry(Map.prototype.get);
const mapSet = uncurry(Map.prototype.set);
const mapHas = uncurry(Map.prototype.has);
const mapDelete = uncurry(Map.prototype.delete);
const mapForEach = uncurry(Map.prototype.forEach);
const mapSize = uncurry(getOwnPropertyDescriptor(Map.prototype, "size").get);
const setForEach = uncurry(Set.prototype.forEach);
const setAdd = uncurry(Set.prototype.add);
const setHas = uncurry(Set.prototype.has);
const setDelete = uncurry(Set.prototype.delete);
const setSize = uncurry(getOwnPropertyDescriptor(Set.prototype, "size").get);
const weakGet = uncurry(WeakMap.prototype.get);
const weakSet = uncurry(WeakMap.prototype.set);
const charCodeAt = uncurry(String.prototype.charCodeAt);
const codePointAt = uncurry(String.prototype.codePointAt);
const sliceText = uncurry(String.prototype.slice);
const indexOfText = uncurry(String.prototype.indexOf);
const lowerText = uncurry(String.prototype.toLowerCase);
const replaceText = uncurry(String.prototype.replace);
const joinArray = uncurry(Array.prototype.join);
const numberText = uncurry(Number.prototype.toString);
const testRegExp = uncurry(RegExp.prototype.exec);
const regExpSource = uncurry(getOwnPropertyDescriptor(RegExp.prototype, "source").get);
const regExpFlags = uncurry(getOwnPropertyDescriptor(RegExp.prototype, "flags").get);
const dateTime = uncurry(Date.prototype.getTime);
const dateIso = uncurry(Date.prototype.toISOString);
const readClock = Date.now;
const bufferSlice = uncurry(ArrayBuffer.prototype.slice);
const bufferLength = uncurry(getOwnPropertyDescriptor(ArrayBuffer.prototype, "byteLength").get);
const typedArrayPrototype = getPrototypeOf(Uint8Array.prototype);
const typedArrayTag = uncurry(getOwnPropertyDescriptor(typedArrayPrototype, Symbol.toStringTag).get);
const typedArrayBuffer = uncurry(getOwnPropertyDescriptor(typedArrayPrototype, "buffer").get);
const typedArrayOffset = uncurry(getOwnPropertyDescriptor(typedArrayPrototype, "byteOffset").get);
const typedArrayBytes = uncurry(getOwnPropertyDescriptor(typedArrayPrototype, "byteLength").get);
const typedArrayLength = uncurry(getOwnPropertyDescriptor(typedArrayPrototype, "length").get);
const viewBuffer = uncurry(getOwnPropertyDescriptor(DataView.prototype, "buffer").get);
const viewOffset = uncurry(getOwnPropertyDescriptor(DataView.prototype, "byteOffset").get);
const viewBytes = uncurry(getOwnPropertyDescriptor(DataView.prototype, "byteLength").get);
const iteratorSymbol = Symbol.iterator;
const tagSymbol = Symbol.toStringTag;

// An own property, whatever setters the guest put on a prototype.
const put = (list, value) =>
  defineProperty(list, list.length, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
const define = (target, name, value) =>
  defineProperty(target, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
const expose = (name, value) => define(globalThis, name, value);
const hide = (name) => {
  delete globalThis[name];
};
