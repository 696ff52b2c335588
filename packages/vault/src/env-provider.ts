/**
 * Secrets that the installation was started with: the row holds the name of a variable, the environment its value.
 * Only names with the prefix can be read, so that nobody reads PATH, or our own keys, through a credential.
 * Whose variable is whose is not known here: only installation admins may make such credentials; the routes see to that.
 */
import { AppError } from "@executor/contracts/error";
import type { CredentialProvider } from "@executor/core/ports/vault";
import { secretFromText } from "./secret-from-text.ts";

export const ENV_PREFIX = "EXECUTOR_SECRET_";
const NAME = /^EXECUTOR_SECRET_[A-Za-z0-9_]{1,200}$/;

export function createEnvProvider(environment: Readonly<Record<string, string | undefined>>): CredentialProvider {
  // A copy of what may be read: nothing else can come out, whatever a row says.
  const readable = new Map(Object.entries(environment).filter(([name, value]) => NAME.test(name) && value));
  return {
    id: "env",
    async keep(_binding, secretJson) {
      const variable = readVariableName(secretJson);
      if (!readable.has(variable))
        throw new AppError(
          "credential.invalid",
          `The variable ${variable} is not set. Set it in the environment of server and worker, start them again, then save the credential.`,
        );
      return variable;
    },
    async reveal(binding, kept) {
      const value = NAME.test(kept) ? readable.get(kept) : undefined;
      if (value === undefined)
        throw new AppError(
          "credential.unreadable",
          `The credential "${binding.name}" of ${binding.sourceKey} is in a variable that is not set or may not be read. It must start with ${ENV_PREFIX} and be in the environment of server and worker.`,
        );
      return secretFromText(value);
    },
    // The environment is not ours to change.
    async forget() {},
  };
}

function readVariableName(secretJson: string): string {
  const { variable } = JSON.parse(secretJson) as { variable?: unknown };
  if (typeof variable === "string" && NAME.test(variable)) return variable;
  throw new AppError(
    "credential.invalid",
    `The env provider takes {"variable": "${ENV_PREFIX}…"}: the name of a variable that starts with ${ENV_PREFIX} and goes on with letters, digits and _.`,
  );
}
