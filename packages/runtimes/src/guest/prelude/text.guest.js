// Piece 5: TextEncoder and TextDecoder (utf-8, utf-16le, latin1), as the engine has none. atob and btoa are the engine's own.
const encodeUtf8 = (text, bytes, limit) => {
  let at = 0,
    read = 0;
  while (read < text.length) {
    let code = charCodeAt(text, read),
      units = 1;
    if (code >= 0xd800 && code < 0xe000) {
      const whole = codePointAt(text, read);
      if (whole > 0xffff) {
        code = whole;
        units = 2;
      } else code = 0xfffd;
    }
    const size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (at + size > limit) break;
    if (size === 1) bytes[at] = code;
    else {
      bytes[at] = (size === 2 ? 0xc0 : size === 3 ? 0xe0 : 0xf0) | (code >> (6 * (size - 1)));
      for (let i = 1; i < size; i++) bytes[at + i] = 0x80 | ((code >> (6 * (size - 1 - i))) & 0x3f);
    }
    at += size;
    read += units;
  }
  return { __proto__: null, read, written: at };
};

class TextEncoder {
  get encoding() {
    return "utf-8";
  }
  encode(text = "") {
    const source = `${text}`;
    const bytes = new Uint8Array(source.length * 3);
    const { written } = encodeUtf8(source, bytes, bytes.length);
    return new Uint8Array(bufferSlice(typedArrayBuffer(bytes), 0, written));
  }
  encodeInto(text, target) {
    if (!isView(target) || typedArrayTag(target) !== "Uint8Array") throw new TypeError("encodeInto takes a Uint8Array");
    const { read, written } = encodeUtf8(`${text}`, target, typedArrayLength(target));
    return { read, written };
  }
}
define(TextEncoder.prototype, tagSymbol, "TextEncoder");
expose("TextEncoder", TextEncoder);

const bytesOf = (source) => {
  if (source === undefined) return new Uint8Array(0);
  if (!isView(source)) return new Uint8Array(source, 0, bufferLength(source));
  return typedArrayTag(source) === undefined
    ? new Uint8Array(viewBuffer(source), viewOffset(source), viewBytes(source))
    : new Uint8Array(typedArrayBuffer(source), typedArrayOffset(source), typedArrayBytes(source));
};

const joinBytes = (first, second) => {
  const bytes = new Uint8Array(first.length + second.length);
  for (let i = 0; i < first.length; i++) bytes[i] = first[i];
  for (let i = 0; i < second.length; i++) bytes[first.length + i] = second[i];
  return bytes;
};

// Decodes what is whole; `rest` is where an unfinished sequence at the end starts.
const decodeUtf8 = (bytes, fatal, last) => {
  let text = "",
    at = 0;
  const replace = () => {
    if (fatal) throw new TypeError("The bytes are not valid utf-8");
    text += "\ufffd";
  };
  while (at < bytes.length) {
    const lead = bytes[at];
    if (lead < 0x80) {
      text += fromCharCode(lead);
      at++;
      continue;
    }
    const need =
      lead >= 0xc2 && lead <= 0xdf ? 1 : lead >= 0xe0 && lead <= 0xef ? 2 : lead >= 0xf0 && lead <= 0xf4 ? 3 : 0;
    if (need === 0) {
      replace();
      at++;
      continue;
    }
    let code = lead & (need === 1 ? 0x1f : need === 2 ? 0x0f : 0x07),
      got = 0;
    let low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80,
      high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
    while (got < need && at + 1 + got < bytes.length) {
      const next = bytes[at + 1 + got];
      if (next < low || next > high) break;
      low = 0x80;
      high = 0xbf;
      code = (code << 6) | (next & 0x3f);
      got++;
    }
    if (got === need) {
      text += fromCodePoint(code);
      at += need + 1;
      continue;
    }
    if (at + 1 + got >= bytes.length && !last) break;
    replace();
    at += got + 1;
  }
  return { __proto__: null, text, rest: at };
};

const decodeUtf16 = (bytes, _fatal, last) => {
  let text = "",
    at = 0;
  for (; at + 1 < bytes.length; at += 2) text += fromCharCode(bytes[at] | (bytes[at + 1] << 8));
  if (last && at < bytes.length) {
    text += "\ufffd";
    at = bytes.length;
  }
  return { __proto__: null, text, rest: at };
};

const decodeLatin1 = (bytes) => {
  let text = "";
  for (let i = 0; i < bytes.length; i++) text += fromCharCode(bytes[i]);
  return { __proto__: null, text, rest: bytes.length };
};

const decoders = {
  __proto__: null,
  "utf-8": ["utf-8", decodeUtf8],
  utf8: ["utf-8", decodeUtf8],
  "unicode-1-1-utf-8": ["utf-8", decodeUtf8],
  "utf-16le": ["utf-16le", decodeUtf16],
  "utf-16": ["utf-16le", decodeUtf16],
  latin1: ["windows-1252", decodeLatin1],
  ascii: ["windows-1252", decodeLatin1],
  "us-ascii": ["windows-1252", decodeLatin1],
  "iso-8859-1": ["windows-1252", decodeLatin1],
  "windows-1252": ["windows-1252", decodeLatin1],
};

class TextDecoder {
  #encoding;
  #decode;
  #fatal;
  #ignoreBom;
  #rest = new Uint8Array(0);
  #started = false;
  constructor(label = "utf-8", options = {}) {
    const known = decoders[lowerText(`${label}`)];
    if (known === undefined) throw new RangeError(`The encoding ${label} is not available here`);
    [this.#encoding, this.#decode] = [known[0], known[1]];
    this.#fatal = !!options.fatal;
    this.#ignoreBom = !!options.ignoreBOM;
  }
  get encoding() {
    return this.#encoding;
  }
  get fatal() {
    return this.#fatal;
  }
  get ignoreBOM() {
    return this.#ignoreBom;
  }
  decode(source, options = {}) {
    const stream = !!options.stream;
    const given = bytesOf(source);
    const bytes = this.#rest.length === 0 ? given : joinBytes(this.#rest, given);
    const { text, rest } = (0, this.#decode)(bytes, this.#fatal, !stream);
    this.#rest = new Uint8Array(
      bufferSlice(typedArrayBuffer(bytes), typedArrayOffset(bytes) + rest, typedArrayOffset(bytes) + bytes.length),
    );
    const dropBom =
      !this.#started &&
      !this.#ignoreBom &&
      this.#encoding !== "windows-1252" &&
      text !== "" &&
      charCodeAt(text, 0) === 0xfeff;
    if (!stream) this.#started = false;
    else if (text !== "") this.#started = true;
    return dropBom ? sliceText(text, 1) : text;
  }
}
define(TextDecoder.prototype, tagSymbol, "TextDecoder");
expose("TextDecoder", TextDecoder);
