// Piece 2: chance and time, both of which must come out the same in a replay.
// Date itself is the engine's: the host answers its clock with the time of the last delivery.
let randomA = 0,
  randomB = 0,
  randomC = 0,
  randomCount = 0;
let clockStart = 0;

const nextRandom32 = () => {
  // sfc32
  const sum = (((randomA + randomB) | 0) + randomCount) | 0;
  randomCount = (randomCount + 1) | 0;
  randomA = randomB ^ (randomB >>> 9);
  randomB = (randomC + (randomC << 3)) | 0;
  randomC = (((randomC << 21) | (randomC >>> 11)) + sum) | 0;
  return sum >>> 0;
};
const seedRandom = (a, b, c, d) => {
  randomA = a | 0;
  randomB = b | 0;
  randomC = c | 0;
  randomCount = d | 0;
  for (let i = 0; i < 12; i++) nextRandom32();
};
define(Math, "random", function random() {
  return ((nextRandom32() >>> 5) * 67108864 + (nextRandom32() >>> 6)) / 9007199254740992;
});

const randomBytes = (count) => {
  const bytes = new Uint8Array(count);
  for (let i = 0; i < count; i++) bytes[i] = nextRandom32() >>> 24;
  return bytes;
};
const hexDigits = "0123456789abcdef";
const crypto = {
  randomUUID() {
    const bytes = randomBytes(16);
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let text = "";
    for (let i = 0; i < 16; i++) {
      if (i === 4 || i === 6 || i === 8 || i === 10) text += "-";
      text += hexDigits[bytes[i] >> 4] + hexDigits[bytes[i] & 15];
    }
    return text;
  },
  getRandomValues(view) {
    const tag = isView(view) ? typedArrayTag(view) : undefined;
    if (tag === undefined || indexOfText(tag, "Float") === 0)
      throw new TypeError("getRandomValues takes an integer typed array");
    if (typedArrayBytes(view) > 65536)
      throw new DOMException("getRandomValues gives at most 65536 bytes at a time", "QuotaExceededError");
    const bytes = new Uint8Array(typedArrayBuffer(view), typedArrayOffset(view), typedArrayBytes(view));
    const count = typedArrayBytes(view);
    for (let i = 0; i < count; i++) bytes[i] = nextRandom32() >>> 24;
    return view;
  },
};
define(crypto, tagSymbol, "Crypto");
expose("crypto", crypto);

const performance = {
  now() {
    return readClock() - clockStart;
  },
  get timeOrigin() {
    return clockStart;
  },
};
define(performance, tagSymbol, "Performance");
expose("performance", performance);

// What could tell two runs apart, or two guests from each other.
for (const name of [
  "WeakRef",
  "FinalizationRegistry",
  "SharedArrayBuffer",
  "Atomics",
  "Intl",
  "Temporal",
  "navigator",
  "gc",
  "os",
  "std",
  "bjson",
  "scriptArgs",
  "print",
  "InternalError",
])
  hide(name);
