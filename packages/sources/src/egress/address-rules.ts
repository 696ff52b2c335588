/**
 * Decides whether a request may go to an address: one rule for every request that leaves, redirects included.
 * Metadata services and our own ports are refused whatever the settings say. A refusal never tells the address that a name
 * stands for: whoever may add a source could otherwise read our network from the errors.
 */
import { AppError } from "@executor/contracts/error";
import { networkInterfaces } from "node:os";
import { type AddressRange, isInRange, parseAddress, type ParsedAddress, parseRange } from "./classify-address.ts";

export interface AddressSettings {
  allowLoopback: boolean;
  /** Ranges (`10.0.0.0/8`), addresses, host names (`git.corp.example`) or all names below one (`*.corp.example`). */
  allowPrivate: readonly string[];
  /** Ports we listen on ourselves: never reachable at any address of this machine. */
  ownPorts: () => readonly number[];
}

export interface AddressRules {
  /** Before any lookup. Throws AppError `egress.refused`. */
  checkName(host: string): void;
  /** Throws AppError `egress.refused`. */
  checkAddress(host: string, port: number, address: ParsedAddress): void;
}

/** The one name under which the setting is told to people. */
const SETTING = "EXECUTOR_EGRESS_ALLOW";

const metadataNames = new Set([
  "metadata",
  "metadata.google.internal",
  "metadata.goog",
  "metadata.azure.internal",
  "metadata.tencentyun.com",
  "instance-data",
  "instance-data.ec2.internal",
]);

export function createAddressRules(settings: AddressSettings): AddressRules {
  const allowed = readAllowed(settings.allowPrivate);

  const isAllowed = (host: string, address: ParsedAddress): boolean => {
    if (allowed.ranges.some((range) => isInRange(address.bytes, range))) return true;
    // A name stands for private ranges only: whoever answers for it in the DNS must not thereby reach this machine.
    if (address.kind !== "private" && !isLocalName(host)) return false;
    return allowed.names.has(host) || allowed.suffixes.some((suffix) => host.endsWith(suffix));
  };

  return {
    checkName(host) {
      if (metadataNames.has(host)) throw refused(host, "is a metadata service, which is never reached from here");
    },
    checkAddress(host, port, address) {
      if (address.kind === "public" && !settings.ownPorts().includes(port)) return;
      if (address.kind === "metadata") throw refused(host, "is a metadata service, which is never reached from here");
      if (settings.ownPorts().includes(port) && isOfThisMachine(address))
        throw refused(`${host}:${port}`, "is this installation itself, which its own tools never reach");
      if (address.kind === "public") return;
      // Only what is written as this machine: a name of somebody else's could point here a moment later (rebinding).
      if (address.kind === "loopback" && settings.allowLoopback && isLocalHost(host)) return;
      if (address.kind !== "special" && isAllowed(host, address)) return;
      throw refused(host, reasons[address.kind]);
    },
  };
}

const reasons = {
  loopback: `is this machine, which this installation's tools may not reach by that name; its operator can allow it with ${SETTING}=127.0.0.0/8`,
  private: `is in a private network, which this installation's tools may not reach; its operator can allow it by adding the host name or its range to ${SETTING}`,
  special: "is in a range that is reserved (multicast, documentation and the like); check the address",
};

const refused = (host: string, why: string): AppError =>
  new AppError("egress.refused", `${host} ${why}.`, { data: { sent: false } });

/** Written as this machine, or as an address: nobody's DNS decides where it leads. */
const isLocalHost = (host: string): boolean => isLocalName(host) || parseAddress(host) !== null;

export const isLocalName = (host: string): boolean => host === "localhost" || host.endsWith(".localhost");

interface Allowed {
  ranges: AddressRange[];
  names: Set<string>;
  suffixes: string[];
}

function readAllowed(entries: readonly string[]): Allowed {
  const allowed: Allowed = { ranges: [], names: new Set(), suffixes: [] };
  for (const entry of entries.map((text) => text.trim().toLowerCase()).filter((text) => text !== "")) {
    const range = parseRange(entry.replace(/^\[|\]$/g, ""));
    if (range !== null) allowed.ranges.push(range);
    else if (entry.startsWith("*.") && isName(entry.slice(2))) allowed.suffixes.push(entry.slice(1));
    else if (isName(entry)) allowed.names.add(entry.replace(/\.$/, ""));
    else throw new Error(`${SETTING}: ${JSON.stringify(entry)} is neither a range like 10.0.0.0/8 nor a host name`);
  }
  return allowed;
}

/** Digits and dots alone are a mistyped address. */
const isName = (text: string): boolean => /^[a-z0-9_.-]+$/.test(text) && !/^[\d.]+$/.test(text);

function isOfThisMachine(address: ParsedAddress): boolean {
  if (address.kind === "loopback") return true;
  return Object.values(networkInterfaces()).some((list) =>
    list?.some((own) => {
      const parsed = parseAddress(own.address.replace(/%.*$/, ""));
      return (
        parsed !== null &&
        parsed.bytes.length === address.bytes.length &&
        parsed.bytes.every((byte, i) => byte === address.bytes[i])
      );
    }),
  );
}
