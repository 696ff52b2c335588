/**
 * Checks every URL that discovery or configuration brings in: https, or http on this machine where that is meant. Anything
 * else (javascript:, file:, plain http to a host) is refused before it is fetched or shown to a browser. Whether an address
 * may be reached at all is the egress guard's question.
 */
import { AppError } from "@executor/contracts/error";

export interface UrlRules {
  /**
   * True when the source itself lies on loopback or its configuration says so: a server elsewhere must not be able to send
   * a person's browser to ports of their own machine.
   */
  allowLoopback: boolean;
}

/** Gives the URL back as it was written: a path-less one keeps having no slash. */
export function checkOauthUrl(text: string, what: string, rules: UrlRules): string {
  const refused = (reason: string): AppError =>
    new AppError(
      "oauth.unsupported",
      `${what} must be an https URL, but ${reason}. Correct the provider's metadata or the source's auth.`,
    );
  if (text.length > 4_000 || !URL.canParse(text)) throw refused("it is no URL");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") throw refused("it holds a user name or password");
  if (url.hash !== "" || text.includes("#")) throw refused("it holds a fragment");
  if (url.protocol === "https:") return text;
  if (url.protocol !== "http:") throw refused(`its scheme is ${url.protocol.slice(0, 30)}`);
  if (!isLoopbackUrl(text)) throw refused(`${url.host} is plain http`);
  if (!rules.allowLoopback) throw refused(`${url.host} is this machine, and the source is not`);
  return text;
}

export function isLoopbackUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const host = new URL(text).hostname;
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}
