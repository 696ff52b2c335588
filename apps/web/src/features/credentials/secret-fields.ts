/** Which fields a secret has, by how its source signs in. What is typed goes into `secretJson` and nowhere else. Pure. */
import type { Source } from "@executor/client";

export interface SecretField {
  name: string;
  label: string;
  isSecret: boolean;
}

const field = (name: string, label: string, isSecret = true): SecretField => ({ name, label, isSecret });

export function secretFields(auth: Source["auth"]): SecretField[] {
  if (auth?.type === "basic") return [field("username", "User name", false), field("password", "Password")];
  if (auth?.type === "apiKey") return [field("value", "Key")];
  return [field("token", "Token")];
}

/** Null for a provider that is named by a reference instead. */
export const REFERENCES: Record<string, SecretField | null> = {
  managed: null,
  env: field("variable", "Environment variable, EXECUTOR_SECRET_…", false),
  "workos-vault": field("objectId", "Object id in the vault", false),
};

/** Those whose secret somebody gives here: not the ones that have it in themselves. */
export const takesSecrets = ({ auth }: Source): boolean => auth !== undefined && auth.mode !== "static";
