/**
 * Turns a host into the addresses a request may be sent to. Every answer of the DNS is checked, and what comes out is what is
 * connected to: a name that answers differently a moment later changes nothing (rebinding).
 * Answers are kept for seconds only, and the rules are asked at each use, so a changed setting or port holds at once.
 */
import { AppError } from "@executor/contracts/error";
import { lookup as systemLookup } from "node:dns/promises";
import { type AddressRules, isLocalName } from "./address-rules.ts";
import { parseAddress, type ParsedAddress } from "./classify-address.ts";

export type HostLookup = (host: string) => Promise<readonly { address: string; family: number }[]>;

export interface ResolvedHost {
  /** As it stands in a URL: IPv6 in brackets. At least one; the one that worked last comes first. */
  addresses: readonly string[];
  /** All of them are on the open internet. */
  isPublic: boolean;
  /** The name, for SNI and the certificate; null when the URL had an address. */
  name: string | null;
  /** Call it when an address did not answer: the others come first from then on. */
  failed(address: string): void;
}

export type ResolveHost = (url: URL, signal: AbortSignal) => ResolvedHost | Promise<ResolvedHost>;

interface Answer {
  at: number;
  addresses: { text: string; parsed: ParsedAddress }[];
}

const KEEP_MS = 10_000;
const KEEP_NAMES = 1_000;

export function createResolveHost(rules: AddressRules, lookup: HostLookup = lookupAll): ResolveHost {
  const answers = new Map<string, Answer>();
  const underWay = new Map<string, Promise<Answer>>();

  const checked = (host: string, port: number, answer: Answer): ResolvedHost => {
    for (const { parsed } of answer.addresses) rules.checkAddress(host, port, parsed);
    return {
      addresses: answer.addresses.map(({ text }) => text),
      isPublic: answer.addresses.every(({ parsed }) => parsed.kind === "public"),
      name: host,
      failed(address) {
        answer.addresses = answer.addresses.toSorted((a, b) => Number(a.text === address) - Number(b.text === address));
      },
    };
  };

  const find = (host: string): Promise<Answer> => {
    const running = underWay.get(host);
    if (running !== undefined) return running;
    const found = ask(lookup, host)
      .then((answer) => {
        if (answers.size >= KEEP_NAMES) answers.clear();
        answers.set(host, answer);
        return answer;
      })
      .finally(() => underWay.delete(host));
    underWay.set(host, found);
    return found;
  };

  return (url, signal) => {
    const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
    const literal = parseAddress(url.hostname);
    if (literal !== null) {
      rules.checkAddress(url.hostname, port, literal);
      const isPublic = literal.kind === "public";
      return { addresses: [url.hostname], isPublic, name: null, failed: () => undefined };
    }
    const host = url.hostname.replace(/\.$/, "");
    rules.checkName(host);
    const known = answers.get(host);
    if (known !== undefined && performance.now() - known.at < KEEP_MS) return checked(host, port, known);
    return untilAborted(find(host), signal).then((answer) => checked(host, port, answer));
  };
}

async function ask(lookup: HostLookup, host: string): Promise<Answer> {
  const found = await lookup(host).catch(() => []);
  // IPv4 first: where IPv6 is set up but broken, a connection to it hangs instead of failing.
  const addresses = found
    .toSorted((a, b) => a.family - b.family)
    .map(({ address, family }) => ({ text: family === 6 ? `[${address}]` : address, parsed: parseAddress(address) }));
  if (addresses.length === 0)
    throw new AppError(
      "egress.failed",
      `The name ${host} cannot be resolved. Check how it is written, and the DNS of this machine.`,
      {
        data: { sent: false },
      },
    );
  if (!addresses.every((one): one is Answer["addresses"][number] => one.parsed !== null))
    throw new AppError("egress.refused", `The name ${host} stands for something that is no plain IP address.`, {
      data: { sent: false },
    });
  return { at: performance.now(), addresses };
}

/** `localhost` is this machine whatever a DNS server says (RFC 6761). */
const lookupAll: HostLookup = async (host) =>
  isLocalName(host)
    ? [
        { address: "127.0.0.1", family: 4 },
        { address: "::1", family: 6 },
      ]
    : systemLookup(host, { all: true });

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const stop = () => aborted.reject(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
