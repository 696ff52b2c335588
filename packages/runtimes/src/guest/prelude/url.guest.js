// Piece 6: URL and URLSearchParams, after the WHATWG standard. Left out: punycode (a host outside ASCII is refused).
const specialPorts = {
  __proto__: null,
  "http:": "80",
  "https:": "443",
  "ws:": "80",
  "wss:": "443",
  "ftp:": "21",
  "file:": "",
};
const encodeSets = {
  __proto__: null,
  fragment: ' "<>`',
  query: ' "#<>',
  specialQuery: " \"#<>'",
  path: ' "#<>?^`{}',
  userinfo: ' "#<>?^`{}/:;=@[\\]|',
};
const matchText = (pattern, text) => testRegExp(pattern, text);

const percentEncode = (text, set) => {
  let out = "";
  for (let i = 0; i < text.length; i++) {
    const code = codePointAt(text, i);
    if (code >= 0x20 && code < 0x7f) {
      const unit = text[i];
      out += indexOfText(set, unit) < 0 ? unit : percentByte(code);
      continue;
    }
    if (code > 0xffff) i++;
    out += percentBytes(code >= 0xd800 && code < 0xe000 ? "\ufffd" : fromCodePoint(code));
  }
  return out;
};
const percentByte = (byte) =>
  `%${byte < 16 ? "0" : ""}${replaceText(numberText(byte, 16), /[a-f]/g, (digit) => fromCharCode(charCodeAt(digit, 0) - 32))}`;
const percentBytes = (text) => {
  const bytes = new Uint8Array(text.length * 3);
  const { written } = encodeUtf8(text, bytes, bytes.length);
  let out = "";
  for (let i = 0; i < written; i++) out += percentByte(bytes[i]);
  return out;
};
const percentDecode = (text) => {
  if (indexOfText(text, "%") < 0) return text;
  const bytes = new Uint8Array(text.length * 3);
  let { written } = encodeUtf8(text, bytes, bytes.length);
  let to = 0;
  for (let i = 0; i < written; i++) {
    const value = bytes[i] === 0x25 && i + 2 < written ? hexPair(bytes[i + 1], bytes[i + 2]) : -1;
    if (value >= 0) {
      bytes[to++] = value;
      i += 2;
    } else bytes[to++] = bytes[i];
  }
  return decodeUtf8(new Uint8Array(typedArrayBuffer(bytes), 0, to), false, true).text;
};
const hexValue = (code) =>
  code >= 48 && code <= 57
    ? code - 48
    : code >= 97 && code <= 102
      ? code - 87
      : code >= 65 && code <= 70
        ? code - 55
        : -1;
const hexPair = (a, b) => (hexValue(a) < 0 || hexValue(b) < 0 ? -1 : hexValue(a) * 16 + hexValue(b));
const splitText = (text, separator) => {
  const parts = [];
  for (let from = 0; ;) {
    const at = indexOfText(text, separator, from);
    put(parts, sliceText(text, from, at < 0 ? text.length : at));
    if (at < 0) return parts;
    from = at + separator.length;
  }
};

// A record: { protocol, username, password, host (or null), port, path (a list, or a string when opaque), query, fragment }.
const parseUrl = (input, base) => {
  let rest = replaceText(replaceText(input, /^[\0-\x20]+|[\0-\x20]+$/g, ""), /[\t\n\r]/g, "");
  let fragment = null;
  const hash = indexOfText(rest, "#");
  if (hash >= 0) {
    fragment = percentEncode(sliceText(rest, hash + 1), encodeSets.fragment);
    rest = sliceText(rest, 0, hash);
  }
  const scheme = matchText(/^([A-Za-z][A-Za-z0-9+.-]*):/, rest);
  if (scheme === null) return base === null ? null : parseRelative(rest, base, fragment);
  const protocol = `${lowerText(scheme[1])}:`;
  rest = sliceText(rest, scheme[0].length);
  const special = protocol in specialPorts;
  if (
    special &&
    base !== null &&
    base.protocol === protocol &&
    protocol !== "file:" &&
    matchText(/^[\\/]{2}/, rest) === null
  )
    return parseRelative(rest, base, fragment);
  if (protocol === "file:" && base !== null && base.protocol === "file:" && matchText(/^[\\/]{2}/, rest) === null)
    return parseRelative(rest, base, fragment);
  const record = {
    __proto__: null,
    protocol,
    username: "",
    password: "",
    host: null,
    port: "",
    path: [],
    query: null,
    fragment,
  };
  if (!special && matchText(/^\//, rest) === null) return parseOpaque(rest, record);
  const slashes = matchText(special ? (protocol === "file:" ? /^[\\/]{0,2}/ : /^[\\/]*/) : /^\/\//, rest);
  if (slashes === null) return parseTail(rest, record);
  if (protocol === "file:" && slashes[0].length < 2) {
    record.host = "";
    return parseTail(rest, record);
  }
  return parseAuthority(sliceText(rest, slashes[0].length), record);
};

const parseOpaque = (rest, record) => {
  const mark = indexOfText(rest, "?");
  if (mark >= 0) record.query = percentEncode(sliceText(rest, mark + 1), encodeSets.query);
  record.path = percentEncode(mark >= 0 ? sliceText(rest, 0, mark) : rest, "");
  return record;
};

const parseAuthority = (rest, record) => {
  const special = record.protocol in specialPorts;
  const end = matchText(special ? /[\\/?]/ : /[/?]/, rest)?.index ?? rest.length;
  let authority = sliceText(rest, 0, end);
  const at = lastIndexOfText(authority, "@");
  if (at >= 0) {
    const user = sliceText(authority, 0, at),
      colon = indexOfText(user, ":");
    record.username = percentEncode(colon < 0 ? user : sliceText(user, 0, colon), encodeSets.userinfo);
    record.password = colon < 0 ? "" : percentEncode(sliceText(user, colon + 1), encodeSets.userinfo);
    authority = sliceText(authority, at + 1);
  }
  const port = matchText(/:([0-9]*)$/, authority);
  const hostText = port === null ? authority : sliceText(authority, 0, port.index);
  if (port !== null && !setPort(record, port[1])) return null;
  if (hostText === "" && special && record.protocol !== "file:") return null;
  if (hostText === "" && (at >= 0 || port !== null)) return null;
  record.host = parseHost(hostText, special);
  if (record.host === null) return null;
  if (record.protocol === "file:" && record.host === "localhost") record.host = "";
  return parseTail(sliceText(rest, end), record);
};
const lastIndexOfText = uncurry(String.prototype.lastIndexOf);

const setPort = (record, digits) => {
  if (digits === "") {
    record.port = "";
    return true;
  }
  if (matchText(/^[0-9]+$/, digits) === null || +digits > 65535) return false;
  record.port = `${+digits}` === specialPorts[record.protocol] ? "" : `${+digits}`;
  return true;
};

const parseHost = (text, special) => {
  if (text[0] === "[") return text[text.length - 1] === "]" ? parseIpv6(sliceText(text, 1, -1)) : null;
  if (!special) return matchText(/[\0\t\n\r #/<>?@[\\\]^|]/, text) === null ? percentEncode(text, "") : null;
  const name = lowerText(percentDecode(text));
  if (matchText(/[\0-\x20"#%/:<>?@[\\\]^`{|}\x7f]/, name) !== null || matchText(/^[\x21-\x7e]*$/, name) === null)
    return null;
  const labels = splitText(name, ".");
  if (labels[labels.length - 1] === "" && labels.length > 1) labels.length--;
  return matchText(/^([0-9]+|0x[0-9a-f]*)$/, labels[labels.length - 1]) === null ? name : parseIpv4(labels);
};

const parseIpv4 = (labels) => {
  if (labels.length > 4) return null;
  let address = 0;
  for (let i = 0; i < labels.length; i++) {
    const label = labels[i];
    const pattern =
      matchText(/^0x[0-9a-f]*$/, label) !== null
        ? 16
        : matchText(/^0[0-7]+$/, label) !== null
          ? 8
          : matchText(/^[0-9]+$/, label) !== null && (label === "0" || label[0] !== "0")
            ? 10
            : 0;
    if (pattern === 0) return null;
    const digits = pattern === 16 ? sliceText(label, 2) : label;
    const value = digits === "" ? 0 : parseDigits(digits, pattern);
    const last = i === labels.length - 1;
    if (value >= (last ? 256 ** (5 - labels.length) : 256)) return null;
    address += last ? value : value * 256 ** (3 - i);
  }
  return `${floor(address / 16777216)}.${floor(address / 65536) % 256}.${floor(address / 256) % 256}.${address % 256}`;
};
const parseDigits = globalThis.parseInt;

const parseIpv6 = (text) => {
  let source = text;
  const four = matchText(/:([0-9.]+\.[0-9.]+)$/, source);
  if (four !== null) {
    const dotted = matchText(/^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/, four[1]);
    if (dotted === null || +dotted[1] > 255 || +dotted[2] > 255 || +dotted[3] > 255 || +dotted[4] > 255) return null;
    source = `${sliceText(source, 0, four.index + 1)}${numberText(dotted[1] * 256 + +dotted[2], 16)}:${numberText(dotted[3] * 256 + +dotted[4], 16)}`;
  }
  const halves = splitText(source, "::");
  if (halves.length > 2) return null;
  const head = halves[0] === "" ? [] : splitText(halves[0], ":"),
    tail = halves.length < 2 || halves[1] === "" ? [] : splitText(halves[1], ":");
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return null;
  const groups = [];
  for (let i = 0; i < 8; i++) {
    const group = i < head.length ? head[i] : i < head.length + missing ? "0" : tail[i - head.length - missing];
    if (matchText(/^[0-9A-Fa-f]{1,4}$/, group) === null) return null;
    put(groups, numberText(parseDigits(group, 16), 16));
  }
  return writeIpv6(groups);
};
const writeIpv6 = (groups) => {
  let bestStart = -1,
    bestLength = 1;
  for (let i = 0; i < 8; i++) {
    let length = 0;
    while (i + length < 8 && groups[i + length] === "0") length++;
    if (length > bestLength) {
      bestStart = i;
      bestLength = length;
    }
  }
  let text = "";
  for (let i = 0; i < 8; i++) {
    if (i === bestStart) {
      text += "::";
      i += bestLength - 1;
      continue;
    }
    text += (text === "" || text[text.length - 1] === ":" ? "" : ":") + groups[i];
  }
  return `[${text}]`;
};

const parseTail = (rest, record) => {
  const special = record.protocol in specialPorts;
  const mark = indexOfText(rest, "?");
  if (mark >= 0)
    record.query = percentEncode(sliceText(rest, mark + 1), special ? encodeSets.specialQuery : encodeSets.query);
  const path = mark >= 0 ? sliceText(rest, 0, mark) : rest;
  addSegments(record, special ? replaceText(path, /\\/g, "/") : path);
  return record;
};

const addSegments = (record, text) => {
  const special = record.protocol in specialPorts;
  if (text === "" && !special) return;
  const segments = splitText(text[0] === "/" ? sliceText(text, 1) : text, "/");
  for (let i = 0; i < segments.length; i++) {
    const segment = segments[i],
      last = i === segments.length - 1;
    if (matchText(/^(\.|%2e){2}$/i, segment) !== null) {
      if (record.path.length > 0) record.path.length--;
      if (last) put(record.path, "");
    } else if (matchText(/^(\.|%2e)$/i, segment) !== null) {
      if (last) put(record.path, "");
    } else put(record.path, percentEncode(segment, encodeSets.path));
  }
};

const parseRelative = (rest, base, fragment) => {
  const special = base.protocol in specialPorts;
  if (typeof base.path === "string")
    return rest === "" && fragment !== null ? { __proto__: null, ...base, fragment } : null;
  const record = { __proto__: null, ...base, path: [], query: null, fragment };
  if (matchText(special ? /^[\\/]{2}/ : /^\/\//, rest) !== null) {
    record.username = record.password = record.port = "";
    return parseAuthority(sliceText(rest, 2), record);
  }
  if (matchText(special ? /^[\\/]/ : /^\//, rest) !== null) return parseTail(rest, record);
  for (let i = 0; i < base.path.length; i++) put(record.path, base.path[i]);
  if (rest === "") {
    record.query = base.query;
    return record;
  }
  if (rest[0] === "?") {
    record.query = percentEncode(sliceText(rest, 1), special ? encodeSets.specialQuery : encodeSets.query);
    return record;
  }
  if (record.path.length > 0) record.path.length--;
  return parseTail(rest, record);
};

const writePath = (record) =>
  typeof record.path === "string" ? record.path : record.path.length === 0 ? "" : `/${joinArray(record.path, "/")}`;
const writeHost = (record) => (record.host === null ? "" : record.host + (record.port === "" ? "" : `:${record.port}`));
const writeUrl = (record) => {
  let text = record.protocol;
  if (record.host !== null) {
    text += "//";
    if (record.username !== "" || record.password !== "")
      text += `${record.username}${record.password === "" ? "" : `:${record.password}`}@`;
    text += writeHost(record);
  } else if (typeof record.path !== "string" && record.path.length > 1 && record.path[0] === "") text += "/.";
  return (
    text +
    writePath(record) +
    (record.query === null ? "" : `?${record.query}`) +
    (record.fragment === null ? "" : `#${record.fragment}`)
  );
};
