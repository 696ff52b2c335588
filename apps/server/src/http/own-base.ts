/** Where people and clients reach this server, without a slash at the end. */
import type { ServerEnv } from "../env.ts";

export function ownBase({ publicUrl, host, port }: Pick<ServerEnv, "publicUrl" | "host" | "port">): string {
  if (publicUrl !== null) return publicUrl;
  return `http://${host.includes(":") ? `[${host.replace(/[[\]]/g, "")}]` : host}:${port}`;
}
