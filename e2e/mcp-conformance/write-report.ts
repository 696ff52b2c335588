/** The client's section of docs/mcp-conformance.md; whatever else the page holds stays as it is. */
import type { Revision, Verdict } from "./run-suite.ts";

export interface RevisionReport {
  revision: Revision;
  required: string[];
  verdicts: Verdict[];
}

const BEGIN = "<!-- client: written by bun run test:mcp-conformance -->";
const END = "<!-- end of client -->";
const HEAD = `# MCP conformance

Measured with the official suite, \`@modelcontextprotocol/conformance\` 0.2.0-alpha.12, against the real product: a server and a worker as
processes of their own.
`;

/** Why a scenario that nobody requires does not pass. */
const REASONS: Record<string, string> = {
  "auth/client-credentials-jwt": "extension: sign-in without a person is not offered",
  "auth/client-credentials-basic": "extension: sign-in without a person is not offered",
  "auth/enterprise-managed-authorization": "extension: not offered",
  "auth/dpop": "extension: tokens are bearer tokens here",
  "auth/dpop-nonce": "extension: tokens are bearer tokens here",
  "auth/wif-jwt-bearer": "extension: sign-in without a person is not offered",
};

export async function writeClientSection(path: string, reports: RevisionReport[]): Promise<void> {
  const file = Bun.file(path);
  const page = (await file.exists()) ? await file.text() : HEAD;
  const section = `${BEGIN}\n${clientSection(reports)}${END}\n`;
  const [before, after] = [page.indexOf(BEGIN), page.indexOf(END)];
  const written =
    before < 0 || after < 0
      ? `${page.trimEnd()}\n\n${section}`
      : page.slice(0, before) + section + page.slice(after + END.length).replace(/^\n/, "");
  await Bun.write(path, written);
}

const clientSection = (reports: RevisionReport[]): string => `
## As a client: an MCP server as a source

Each scenario starts a server. The client under test (\`e2e/mcp-conformance/adapter.ts\`) adds its URL as a source, signs in where the
source wants it, lists the tools and calls them through a task; approvals, sign-ins and questions are answered over the API. Three
clients that are wrong on purpose (\`careless-client.ts\`) show that the suite can fail.

${reports.map(revisionSection).join("\n")}
`;

function revisionSection({ revision, required, verdicts }: RevisionReport): string {
  const isRequired = new Set(required);
  const passed = verdicts.filter(({ scenario, ok }) => ok && isRequired.has(scenario)).length;
  const rows = verdicts.map(({ scenario, ok, passed: checks, failed, warnings }) => {
    const note = ok ? "" : (REASONS[scenario] ?? `${failed} checks fail, ${warnings} warn`);
    return `| ${scenario} | ${isRequired.has(scenario) ? "required" : "not scored"} | ${ok ? "pass" : "fail"} | ${checks} | ${note} |`;
  });
  return `### ${revision}: ${passed} of ${required.length} required scenarios pass

| scenario | | | checks that pass | |
|---|---|---|---|---|
${rows.join("\n")}
`;
}
