/**
 * Where secret material lies. A provider keeps or finds secrets; what the store holds of one is a reference (sealed text, a
 * name, an object id), never the secret. What does not open is an error, never an empty value.
 */
export interface CredentialProvider {
  readonly id: "managed" | "env" | "workos-vault";
  /** Takes a secret in and gives the text to keep in its row. `secretJson` is a JSON object of strings. */
  keep(binding: SecretBinding, secretJson: string): Promise<string>;
  /** Throws AppError `credential.unreadable`. */
  reveal(binding: SecretBinding, kept: string): Promise<string>;
  /** Best effort; the row is gone anyway. */
  forget(binding: SecretBinding, kept: string): Promise<void>;
}

/** What a sealed secret is bound to: moved to any other row, it does not open. */
export interface SecretBinding {
  workspaceId: string;
  sourceKey: string;
  scope: "workspace" | "actor";
  /** Empty for the workspace scope. */
  actorId: string;
  name: string;
  version: number;
}
