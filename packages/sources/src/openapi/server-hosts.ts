/**
 * The origins that calls of a document go to. A credential goes there too, so a document that names another one than before is
 * not believed before a person looked at it.
 */
import type { PublicDefinition } from "@executor/core/ports/source";
import type { OpenapiMeta } from "./index-document.ts";
import { serverUrl } from "./invoke/server-url.ts";

export function serverHosts(metaJson: string, { baseUrl, serverVariables }: PublicDefinition): string[] {
  const { documentUrl, servers, operationServers = [] } = JSON.parse(metaJson) as OpenapiMeta;
  const context = { baseUrl: baseUrl ?? null, documentUrl, serverVariables: serverVariables ?? {} };
  const chosen = [servers, ...operationServers.map((server) => [server])];
  const hosts = chosen.flatMap((alternatives) => {
    try {
      return [serverUrl({ servers: alternatives }, context).origin];
    } catch {
      // What is no URL is called by nobody.
      return [];
    }
  });
  return [...new Set(hosts)];
}
