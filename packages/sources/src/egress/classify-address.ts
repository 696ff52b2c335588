/**
 * Says what kind of place an IP address is: the open internet, this machine, a private network, or nothing to call at all.
 * Looks only at the address. IPv4 that is wrapped in IPv6 (mapped, NAT64, 6to4, ISATAP) is judged as the IPv4 it leads to.
 * What is not known to be public is not public: new IPv6 space is refused until it is added here.
 */

export type AddressKind = "public" | "loopback" | "private" | "metadata" | "special";

/** `bytes`: 4 or 16 of them, the IPv4 inside already taken out of its IPv6. */
export interface ParsedAddress {
  bytes: readonly number[];
  kind: AddressKind;
}

export interface AddressRange {
  bytes: readonly number[];
  bits: number;
}

/** Null for what is no plain IP address (names, zone ids, ports). Takes IPv6 with and without brackets. */
export function parseAddress(text: string): ParsedAddress | null {
  const raw = toBytes(text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text);
  if (raw === null) return null;
  const bytes = raw.length === 16 ? (embeddedIpv4(raw) ?? raw) : raw;
  return { bytes, kind: kindOf(bytes) };
}

/** `10.0.0.0/8`, `fd00::/8`, or one address. Null when it is neither. */
export function parseRange(text: string): AddressRange | null {
  const [address = "", prefix, ...rest] = text.split("/");
  const raw = toBytes(address);
  if (raw === null || rest.length > 0) return null;
  const bits = prefix === undefined ? raw.length * 8 : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
  return bits >= 0 && bits <= raw.length * 8 ? { bytes: raw, bits } : null;
}

export function isInRange(bytes: readonly number[], range: AddressRange): boolean {
  if (bytes.length !== range.bytes.length) return false;
  const whole = range.bits >> 3;
  for (let i = 0; i < whole; i++) if (bytes[i] !== range.bytes[i]) return false;
  const mask = (0xff00 >> (range.bits & 7)) & 0xff;
  return mask === 0 || ((bytes[whole] as number) & mask) === ((range.bytes[whole] as number) & mask);
}

const table = (rows: Record<string, AddressKind>): [AddressRange, AddressKind][] =>
  Object.entries(rows).map(([range, kind]) => [parseRange(range) as AddressRange, kind]);

/** The first that fits decides. */
const ipv4Kinds = table({
  // Where clouds hand out credentials to whoever asks from the inside.
  "169.254.169.0/24": "metadata",
  "169.254.170.0/24": "metadata",
  "169.254.0.23/32": "metadata",
  "100.100.100.200/32": "metadata",
  "168.63.129.16/32": "metadata",
  "192.0.0.192/32": "metadata",
  // Linux connects to itself for 0.0.0.0.
  "0.0.0.0/32": "loopback",
  "127.0.0.0/8": "loopback",
  "0.0.0.0/8": "special",
  "10.0.0.0/8": "private",
  "100.64.0.0/10": "private",
  "169.254.0.0/16": "private",
  "172.16.0.0/12": "private",
  "192.168.0.0/16": "private",
  "198.18.0.0/15": "private",
  "192.0.0.0/24": "special",
  "192.0.2.0/24": "special",
  "192.88.99.0/24": "special",
  "198.51.100.0/24": "special",
  "203.0.113.0/24": "special",
  "224.0.0.0/3": "special",
});
const ipv6Kinds = table({
  "fd00:ec2::/32": "metadata",
  "fd20:ce::/32": "metadata",
  "::/128": "loopback",
  "::1/128": "loopback",
  "fc00::/7": "private",
  "fe80::/10": "private",
  "fec0::/10": "private",
  "64:ff9b:1::/48": "private",
  // Teredo, benchmarking and ORCHID, documentation: all inside 2000::/3.
  "2001::/23": "special",
  "2001:db8::/32": "special",
  "3fff::/20": "special",
  "2000::/3": "public",
});

function kindOf(bytes: readonly number[]): AddressKind {
  const kinds = bytes.length === 4 ? ipv4Kinds : ipv6Kinds;
  for (const [range, kind] of kinds) if (isInRange(bytes, range)) return kind;
  return bytes.length === 4 ? "public" : "special";
}

const wrappers = ["::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "::/96"].map(
  (text) => parseRange(text) as AddressRange,
);
const sixToFour = parseRange("2002::/16") as AddressRange;

function embeddedIpv4(bytes: readonly number[]): readonly number[] | null {
  if (isInRange(bytes, sixToFour)) return bytes.slice(2, 6);
  // :: and ::1 are no IPv4, though they look like 0.0.0.0 and 0.0.0.1.
  const isShort = bytes.slice(0, 15).every((byte) => byte === 0) && (bytes[15] as number) < 2;
  if (!isShort && wrappers.some((range) => isInRange(bytes, range))) return bytes.slice(12);
  const isIsatap = (bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
  return isIsatap ? bytes.slice(12) : null;
}

function toBytes(text: string): number[] | null {
  return text.includes(":") ? ipv6Bytes(text) : ipv4Bytes(text);
}

/** Dotted decimal only: other ways of writing (hex, octal, one number) are made plain by the URL parser before. */
function ipv4Bytes(text: string): number[] | null {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (match === null) return null;
  const bytes = match.slice(1).map(Number);
  return bytes.every((byte) => byte < 256) ? bytes : null;
}

function ipv6Bytes(text: string): number[] | null {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const head = groupBytes(halves[0] as string);
  const tail = halves.length === 2 ? groupBytes(halves[1] as string) : [];
  if (head === null || tail === null) return null;
  const missing = 16 - head.length - tail.length;
  if (halves.length === 2 ? missing < 2 : missing !== 0) return null;
  return [...head, ...Array.from({ length: missing }, () => 0), ...tail];
}

function groupBytes(text: string): number[] | null {
  if (text === "") return [];
  const groups = text.split(":");
  const bytes: number[] = [];
  for (const [at, group] of groups.entries()) {
    const dotted = at === groups.length - 1 && group.includes(".") ? ipv4Bytes(group) : null;
    if (dotted !== null) bytes.push(...dotted);
    else if (/^[0-9a-f]{1,4}$/i.test(group))
      bytes.push(Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255);
    else return null;
  }
  return bytes;
}
