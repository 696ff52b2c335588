/** The product that the suite's client speaks for: a server and a worker, and a client document as an operator would set it up. */
import { type Installation, startInstallation } from "@executor/testkit/installation/start-installation";
import type { SuiteRun } from "./run-suite.ts";

/** The suite's authorization server knows this client id only. */
const CLIENT_DOCUMENT = "https://conformance-test.local/client-metadata.json";

export const startProduct = (): Promise<Installation> =>
  startInstallation({ env: { EXECUTOR_OAUTH_CLIENT_URL: CLIENT_DOCUMENT } });

export const productClient = ({ url }: Pick<Installation, "url">): SuiteRun => ({
  client: "adapter.ts",
  env: { CONFORMANCE_INSTALLATION: url },
});

export const carelessClient = (fault: string): SuiteRun => ({ client: "careless-client.ts", env: { CARELESS: fault } });

/** What the careless client does wrong, and the scenario that must notice. */
export const FAULTS = [
  { fault: "does-nothing", scenario: "tools_call", revision: "2025-11-25" },
  { fault: "no-pkce", scenario: "auth/metadata-default", revision: "2025-11-25" },
  { fault: "believes-any-issuer", scenario: "auth/iss-wrong-issuer", revision: "2026-07-28" },
] as const;
