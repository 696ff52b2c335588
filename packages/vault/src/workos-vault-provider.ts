/**
 * Secrets in WorkOS Vault: the row holds the id of an object there. An object we made is bound to its workspace by the
 * key context and is deleted with its row; one that somebody else made (`{objectId}`) is read and left alone.
 * Nothing that WorkOS answers is repeated in an error: an answer may hold the value.
 */
import { randomBytes } from "node:crypto";
import { AppError } from "@executor/contracts/error";
import type { GuardedFetch } from "@executor/core/ports/source";
import type { CredentialProvider, SecretBinding } from "@executor/core/ports/vault";
import { z } from "zod";
import { secretFromText } from "./secret-from-text.ts";

export interface WorkosOptions {
  fetch: GuardedFetch;
  apiKey: string;
  /** Default: WorkOS itself. */
  baseUrl?: string;
}

export const WORKOS_URL = "https://api.workos.com";
const TIMEOUT_MS = 15_000;
const MAX_BYTES = 1_000_000;
/** Under this name the key context holds the workspace. */
const WORKSPACE = "executor_workspace";

const ObjectId = z.string().regex(/^[A-Za-z0-9_-]{1,200}$/);
const Kept = z.object({ objectId: ObjectId, ours: z.boolean() });
const Created = z.object({ id: ObjectId });
const Found = z.object({
  value: z.string(),
  metadata: z.object({ context: z.record(z.string(), z.unknown()).optional() }).optional(),
});

export function createWorkosVaultProvider(options: WorkosOptions): CredentialProvider {
  return {
    id: "workos-vault",
    async keep(binding, secretJson) {
      const given = Kept.pick({ objectId: true }).safeParse(JSON.parse(secretJson));
      if (given.success) {
        // Looked at once, so that a wrong id is refused now and not in the middle of a task.
        await readObject(options, binding, given.data.objectId, "credential.invalid");
        return JSON.stringify({ objectId: given.data.objectId, ours: false });
      }
      return JSON.stringify({ objectId: await createObject(options, binding, secretJson), ours: true });
    },
    async reveal(binding, kept) {
      const { objectId } = parseKept(binding, kept);
      return secretFromText(await readObject(options, binding, objectId, "credential.unreadable"));
    },
    async forget(binding, kept) {
      const { objectId, ours } = parseKept(binding, kept);
      if (ours) await send(options, "DELETE", `/${objectId}`, null).catch(() => undefined);
    },
  };
}

async function createObject(options: WorkosOptions, binding: SecretBinding, value: string): Promise<string> {
  const name = `executor-${binding.workspaceId}-${binding.sourceKey}-${randomBytes(8).toString("hex")}`;
  const body = { name, value, key_context: { [WORKSPACE]: binding.workspaceId } };
  const answer = await send(options, "POST", "", JSON.stringify(body));
  const created = Created.safeParse(answer.ok ? await readJson(answer) : null);
  if (created.success) return created.data.id;
  throw new AppError(
    "credential.unreadable",
    `WorkOS Vault did not take the credential "${binding.name}" of ${binding.sourceKey}: ${explain(answer.status)}`,
  );
}

async function readObject(
  options: WorkosOptions,
  binding: SecretBinding,
  objectId: string,
  code: "credential.invalid" | "credential.unreadable",
): Promise<string> {
  const where = `The credential "${binding.name}" of ${binding.sourceKey} (object ${objectId} of WorkOS Vault)`;
  const answer = await send(options, "GET", `/${objectId}`, null);
  const found = Found.safeParse(answer.ok ? await readJson(answer) : null);
  if (!found.success) throw new AppError(code, `${where} cannot be read: ${explain(answer.status)}`);
  const owner = found.data.metadata?.context?.[WORKSPACE];
  if (owner !== undefined && owner !== binding.workspaceId)
    throw new AppError(
      code,
      `${where} belongs to another workspace. Name an object of this one, or save the secret itself.`,
    );
  return found.data.value;
}

async function send(options: WorkosOptions, method: string, path: string, body: string | null): Promise<Response> {
  const base = (options.baseUrl ?? WORKOS_URL).replace(/\/+$/, "");
  try {
    return await options.fetch(`${base}/vault/v1/kv${path}`, {
      method,
      headers: {
        authorization: `Bearer ${options.apiKey}`,
        accept: "application/json",
        ...(body !== null && { "content-type": "application/json" }),
      },
      body,
      redirect: "error",
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
    });
  } catch (error) {
    const reason = error instanceof AppError ? error.detail : "no answer";
    throw new AppError("credential.unreadable", `WorkOS Vault could not be reached: ${reason}`, { cause: error });
  }
}

async function readJson(answer: Response): Promise<unknown> {
  try {
    return await answer.json();
  } catch {
    return null;
  }
}

function parseKept(binding: SecretBinding, kept: string): z.infer<typeof Kept> {
  const parsed = Kept.safeParse(parseOrNull(kept));
  if (parsed.success) return parsed.data;
  throw new AppError(
    "credential.unreadable",
    `The credential "${binding.name}" of ${binding.sourceKey} does not name an object of WorkOS Vault. Save it anew.`,
  );
}

function parseOrNull(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return null;
  }
}

function explain(status: number): string {
  if (status === 401 || status === 403)
    return `WorkOS refused WORKOS_API_KEY (${status}). Check the key and its Vault permission.`;
  if (status === 404) return "there is no such object (404). It may have been deleted; save the credential anew.";
  if (status === 429) return "too many requests (429). Try again in a moment.";
  if (status >= 500) return `WorkOS failed (${status}). Try again later.`;
  return `the answer (${status}) is not what was expected.`;
}
