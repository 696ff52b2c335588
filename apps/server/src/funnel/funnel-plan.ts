/**
 * Reads what Tailscale says about Funnel, and decides on which port ours can go without touching or exposing what is there.
 * Pure. Exit codes mean little here: only the configuration that is in force is believed.
 */

/** `tailscale funnel status --json`; every part may be absent. */
export interface ServeConfig {
  TCP?: Record<string, { HTTPS?: boolean; TCPForward?: string }> | null;
  Web?: Record<string, { Handlers?: Record<string, { Proxy?: string }> | null }> | null;
  AllowFunnel?: Record<string, boolean> | null;
  Foreground?: Record<string, ServeConfig> | null;
}

export interface Machine {
  /** Its public name. */
  host: string;
  ports: number[];
}

export const FUNNEL_PATH = "/internal";
const PORTS = [443, 8_443, 10_000];

/** Or why there can be no Funnel. */
export function readMachine(statusJson: string): Machine | string {
  const status = parse<{ BackendState?: string; Self?: { DNSName?: string; CapMap?: Record<string, unknown> | null } }>(
    statusJson,
  );
  if (!status) return "the Tailscale daemon does not answer. Start it (`sudo systemctl start tailscaled`, or the app)";
  if (status.BackendState === "NeedsLogin")
    return "this machine is logged out of Tailscale. Log in with `tailscale up`";
  if (status.BackendState !== "Running")
    return `Tailscale is ${status.BackendState ?? "in an unknown state"}. Start it with \`tailscale up\``;
  const host = status.Self?.DNSName?.replace(/\.$/, "") ?? "";
  if (host === "") return "this machine has no name in its tailnet. Switch MagicDNS on in the admin console";
  const capability = Object.keys(status.Self?.CapMap ?? {}).find((name) => name.includes("/cap/funnel-ports?"));
  const allowed = capability?.split("ports=")[1]?.split(",").map(Number);
  return { host, ports: PORTS.filter((port) => allowed?.includes(port) ?? true) };
}

export const readConfig = (json: string): ServeConfig => parse<ServeConfig>(json) ?? {};

/** The configuration in force leads the path of this port to the target, and from the internet. */
export function isOpen(config: ServeConfig, host: string, port: number, target: string): boolean {
  return config.AllowFunnel?.[`${host}:${port}`] === true && proxyAt(config, host, port) === target;
}

export const proxyAt = (config: ServeConfig, host: string, port: number): string | undefined =>
  config.Web?.[`${host}:${port}`]?.Handlers?.[FUNNEL_PATH]?.Proxy;

/**
 * A port that is free, or already open to the internet and without a handler at our path: what others put there stays as
 * public or private as it was. One that leads to our target already is ours from before. Null: none.
 */
export function choosePort(config: ServeConfig, { host, ports }: Machine, target: string): number | null {
  const foreground = Object.values(config.Foreground ?? {});
  const isTaken = (port: number): boolean => foreground.some((each) => each.TCP?.[port] !== undefined);
  const ours = ports.find((port) => proxyAt(config, host, port) === target);
  if (ours !== undefined) return ours;
  const free = ports.find(
    (port) => config.TCP?.[port] === undefined && !config.Web?.[`${host}:${port}`] && !isTaken(port),
  );
  const shared = ports.find(
    (port) =>
      config.AllowFunnel?.[`${host}:${port}`] === true &&
      config.TCP?.[port]?.HTTPS === true &&
      proxyAt(config, host, port) === undefined &&
      !isTaken(port),
  );
  return free ?? shared ?? null;
}

export const urlOf = (host: string, port: number): string => `https://${host}${port === 443 ? "" : `:${port}`}`;

/** What to tell a person, from what the program printed. */
export function explainFailure(text: string, isLate: boolean): string {
  const link = /https:\/\/login\.tailscale\.com\/\S+/.exec(text)?.[0];
  if (link !== undefined) return `Funnel is not switched on for this tailnet. Switch it on at ${link}`;
  if (/access denied/i.test(text))
    return "this user may not change Tailscale. Allow it with `sudo tailscale set --operator=$USER`";
  if (isLate) return "`tailscale funnel` gave no answer and was ended";
  const said = text.split("\n").find((line) => line.trim() !== "");
  return said === undefined
    ? "`tailscale funnel` did nothing and did not say why"
    : `Tailscale says: ${said.trim().slice(0, 200)}`;
}

function parse<T>(json: string): T | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? (value as T) : null;
  } catch {
    return null;
  }
}
