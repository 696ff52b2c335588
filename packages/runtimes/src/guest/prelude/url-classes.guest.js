// Piece 6b: the URL and URLSearchParams classes over the records of url.guest.js.
const readPairs = (text) => {
  const pairs = [];
  const parts = splitText(text, "&");
  for (let i = 0; i < parts.length; i++) {
    if (parts[i] === "") continue;
    const clean = replaceText(parts[i], /\+/g, " "),
      at = indexOfText(clean, "=");
    put(pairs, [
      percentDecode(at < 0 ? clean : sliceText(clean, 0, at)),
      at < 0 ? "" : percentDecode(sliceText(clean, at + 1)),
    ]);
  }
  return pairs;
};
const formSafe = /[A-Za-z0-9*._-]/;
const encodeForm = (text) => {
  let out = "";
  for (let i = 0; i < text.length; i++) {
    const code = codePointAt(text, i),
      unit = text[i];
    if (code === 0x20) out += "+";
    else if (code < 0x80) out += testRegExp(formSafe, unit) !== null ? unit : percentByte(code);
    else {
      if (code > 0xffff) i++;
      out += percentBytes(code >= 0xd800 && code < 0xe000 ? "\ufffd" : fromCodePoint(code));
    }
  }
  return out;
};
const writePairs = (pairs) => {
  let text = "";
  for (let i = 0; i < pairs.length; i++)
    text += `${i === 0 ? "" : "&"}${encodeForm(pairs[i][0])}=${encodeForm(pairs[i][1])}`;
  return text;
};

const urlOwners = new WeakMap(); // URLSearchParams -> what to tell when it changes
const pairsFrom = (init) => {
  if (init === undefined || init === null) return [];
  if (typeof init !== "object" && typeof init !== "function") {
    const text = `${init}`;
    return readPairs(text[0] === "?" ? sliceText(text, 1) : text);
  }
  const pairs = [];
  if (typeof init[iteratorSymbol] === "function") {
    for (const pair of init) {
      const [name, value, ...more] = pair;
      if (more.length > 0 || pair.length === 1) throw new TypeError("each query pair must have a name and a value");
      put(pairs, [`${name}`, `${value}`]);
    }
    return pairs;
  }
  const names = objectKeys(init);
  for (let i = 0; i < names.length; i++) put(pairs, [names[i], `${init[names[i]]}`]);
  return pairs;
};

class URLSearchParams {
  #pairs;
  constructor(init) {
    this.#pairs = pairsFrom(init);
  }
  #change(pairs) {
    this.#pairs = pairs;
    weakGet(urlOwners, this)?.(writePairs(pairs));
  }
  #without(name, value) {
    const kept = [];
    for (let i = 0; i < this.#pairs.length; i++) {
      const pair = this.#pairs[i];
      if (pair[0] !== name || (value !== undefined && pair[1] !== value)) put(kept, pair);
    }
    return kept;
  }
  static replace(params, text) {
    params.#pairs = readPairs(text);
  }
  get size() {
    return this.#pairs.length;
  }
  append(name, value) {
    const pairs = this.#without({});
    put(pairs, [`${name}`, `${value}`]);
    this.#change(pairs);
  }
  delete(name, value) {
    this.#change(this.#without(`${name}`, value === undefined ? undefined : `${value}`));
  }
  get(name) {
    for (let i = 0; i < this.#pairs.length; i++) if (this.#pairs[i][0] === `${name}`) return this.#pairs[i][1];
    return null;
  }
  getAll(name) {
    const found = [];
    for (let i = 0; i < this.#pairs.length; i++) if (this.#pairs[i][0] === `${name}`) put(found, this.#pairs[i][1]);
    return found;
  }
  has(name, value) {
    for (let i = 0; i < this.#pairs.length; i++)
      if (this.#pairs[i][0] === `${name}` && (value === undefined || this.#pairs[i][1] === `${value}`)) return true;
    return false;
  }
  set(name, value) {
    const pairs = [];
    let done = false;
    for (let i = 0; i < this.#pairs.length; i++) {
      if (this.#pairs[i][0] !== `${name}`) put(pairs, this.#pairs[i]);
      else if (!done) {
        put(pairs, [`${name}`, `${value}`]);
        done = true;
      }
    }
    if (!done) put(pairs, [`${name}`, `${value}`]);
    this.#change(pairs);
  }
  sort() {
    const pairs = this.#without({});
    sortArray(pairs, (a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
    this.#change(pairs);
  }
  forEach(visit, self) {
    for (let i = 0; i < this.#pairs.length; i++)
      applyFunction(visit, self, [this.#pairs[i][1], this.#pairs[i][0], this]);
  }
  *entries() {
    for (let i = 0; i < this.#pairs.length; i++) yield [this.#pairs[i][0], this.#pairs[i][1]];
  }
  *keys() {
    for (let i = 0; i < this.#pairs.length; i++) yield this.#pairs[i][0];
  }
  *values() {
    for (let i = 0; i < this.#pairs.length; i++) yield this.#pairs[i][1];
  }
  toString() {
    return writePairs(this.#pairs);
  }
}
const sortArray = uncurry(Array.prototype.sort);
const replacePairs = URLSearchParams.replace;
delete URLSearchParams.replace;
define(URLSearchParams.prototype, iteratorSymbol, URLSearchParams.prototype.entries);
define(URLSearchParams.prototype, tagSymbol, "URLSearchParams");
expose("URLSearchParams", URLSearchParams);

class URL {
  #record;
  #params;
  constructor(input, base) {
    const from = base === undefined ? null : parseUrl(`${base}`, null);
    this.#record = base !== undefined && from === null ? null : parseUrl(`${input}`, from);
    if (this.#record === null) throw new TypeError(`Invalid URL: ${sliceText(`${input}`, 0, 200)}`);
    this.#params = new URLSearchParams(this.#record.query ?? "");
    weakSet(urlOwners, this.#params, (text) => {
      this.#record.query = text === "" ? null : text;
    });
  }
  static canParse(input, base) {
    try {
      new URL(input, base);
      return true;
    } catch {
      return false;
    }
  }
  static parse(input, base) {
    try {
      return new URL(input, base);
    } catch {
      return null;
    }
  }
  #setQuery(query) {
    this.#record.query = query;
    replacePairs(this.#params, query ?? "");
  }
  get href() {
    return writeUrl(this.#record);
  }
  set href(text) {
    const record = parseUrl(`${text}`, null);
    if (record === null) throw new TypeError(`Invalid URL: ${sliceText(`${text}`, 0, 200)}`);
    this.#record = record;
    this.#setQuery(record.query);
  }
  get origin() {
    const { protocol } = this.#record;
    return protocol in specialPorts && protocol !== "file:" ? `${protocol}//${writeHost(this.#record)}` : "null";
  }
  get protocol() {
    return this.#record.protocol;
  }
  set protocol(text) {
    const scheme = matchText(/^([A-Za-z][A-Za-z0-9+.-]*):?/, `${text}`);
    if (scheme === null || `${lowerText(scheme[1])}:` in specialPorts !== this.#record.protocol in specialPorts) return;
    this.#record.protocol = `${lowerText(scheme[1])}:`;
    setPort(this.#record, this.#record.port);
  }
  get username() {
    return this.#record.username;
  }
  set username(text) {
    if (this.#record.host) this.#record.username = percentEncode(`${text}`, encodeSets.userinfo);
  }
  get password() {
    return this.#record.password;
  }
  set password(text) {
    if (this.#record.host) this.#record.password = percentEncode(`${text}`, encodeSets.userinfo);
  }
  get host() {
    return writeHost(this.#record);
  }
  set host(text) {
    const parts = matchText(/^(\[[^\]]*\]|[^:/?#\\]*)(?::([0-9]*))?/, `${text}`);
    this.hostname = parts[1];
    if (parts[2]) setPort(this.#record, parts[2]);
  }
  get hostname() {
    return this.#record.host ?? "";
  }
  set hostname(text) {
    if (typeof this.#record.path === "string") return;
    const host = parseHost(`${text}`, this.#record.protocol in specialPorts);
    if (host !== null && (host !== "" || !(this.#record.protocol in specialPorts))) this.#record.host = host;
  }
  get port() {
    return this.#record.port;
  }
  set port(text) {
    const digits = matchText(/^[0-9]*/, `${text}`)[0];
    if (this.#record.host && (digits !== "" || `${text}` === "")) setPort(this.#record, digits);
  }
  get pathname() {
    return writePath(this.#record);
  }
  set pathname(text) {
    if (typeof this.#record.path === "string") return;
    this.#record.path = [];
    const path = replaceText(replaceText(`${text}`, /[?]/g, "%3F"), /#/g, "%23");
    addSegments(this.#record, this.#record.protocol in specialPorts ? replaceText(path, /\\/g, "/") : path);
  }
  get search() {
    return this.#record.query ? `?${this.#record.query}` : "";
  }
  set search(text) {
    const query = replaceText(`${text}`, /^\?/, "");
    this.#setQuery(
      query === ""
        ? null
        : percentEncode(query, this.#record.protocol in specialPorts ? encodeSets.specialQuery : encodeSets.query),
    );
  }
  get searchParams() {
    return this.#params;
  }
  get hash() {
    return this.#record.fragment ? `#${this.#record.fragment}` : "";
  }
  set hash(text) {
    const fragment = replaceText(`${text}`, /^#/, "");
    this.#record.fragment = fragment === "" ? null : percentEncode(fragment, encodeSets.fragment);
  }
  toString() {
    return writeUrl(this.#record);
  }
  toJSON() {
    return writeUrl(this.#record);
  }
}
define(URL.prototype, tagSymbol, "URL");
expose("URL", URL);
