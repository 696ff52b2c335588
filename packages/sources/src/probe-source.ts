/** What is behind a URL: every kind has a look, and the surest finding is taken. */
import { AppError } from "@executor/contracts/error";
import type { ProbeResult } from "@executor/contracts/source";
import type { ProbeFinding, ReadIo, SourceKind } from "@executor/core/ports/source";
import { slugOf } from "./describe-source.ts";

export async function probeSource(kinds: readonly SourceKind[], url: string, io: ReadIo): Promise<ProbeResult> {
  const looks = await Promise.allSettled(kinds.map((kind) => kind.probe(url, io)));
  const refused = looks.find((look) => look.status === "rejected" && isRefusal(look.reason));
  const findings = looks.flatMap((look) => (look.status === "fulfilled" && look.value ? [look.value] : []));
  const [best] = findings.toSorted((a, b) => b.confidence - a.confidence);
  if (best) return present(best);
  if (refused?.status === "rejected") throw refused.reason;
  return {
    confidence: 0,
    name: hostOf(url),
    namespace: slugOf(hostOf(url)),
    auth: { required: false, types: [], detail: "unknown" },
    warnings: [
      "Nothing here looks like an OpenAPI document, a GraphQL endpoint or an MCP server. Check the address, or give the address of the document itself.",
    ],
  };
}

function present({ toolCount, definition, ...finding }: ProbeFinding): ProbeResult {
  const name = plain(finding.name);
  const namespace = slugOf(name);
  return {
    ...finding,
    name,
    namespace,
    definition: { ...definition, name, namespace },
    ...(toolCount !== null && { toolCount }),
  };
}

/** As a source may be named: what it calls itself may hold anything. */
const plain = (name: string): string =>
  name
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .trim()
    .slice(0, 100) || "source";

/** The guard said no: that is an answer, not a failed look. */
const isRefusal = (error: unknown): boolean => error instanceof AppError && error.code === "egress.refused";
const hostOf = (url: string): string => URL.parse(url)?.hostname ?? url.slice(0, 100);
