/**
 * A tool of a source: its place in the catalog, and a call from credential to outcome. The kind makes the request; this adds who
 * may be spoken for. A credential that is missing or dead is asked for; nothing secret is in what comes back.
 */
import { AppError } from "@executor/contracts/error";
import type { ToolApproval } from "@executor/contracts/tool";
import type { Logger } from "@executor/core/log";
import type { AuthParts, GuardedFetch, IndexedTool, SourceSpec, SourceTools } from "@executor/core/ports/source";
import type {
  Asked,
  GatedPart,
  OpenCall,
  Prepared,
  Sent,
  Tool,
  ToolCall,
  ToolOutcome,
} from "@executor/core/tools/tool";
import { readAuthChallenge } from "./oauth/auth-challenge.ts";

/** Whose secrets a call is made with. */
export interface CallCredentials {
  resolve(
    source: SourceSpec,
    caller: { workspaceId: string; actorId: string },
    account: string | null,
  ): Promise<Resolved | Asked>;
}

export interface Resolved {
  kind: "ready";
  auth: AuthParts;
  /** The other side refused the secret. Null: nothing better can be had without a person, and none is needed to say so. */
  renew: (() => Promise<Resolved | Asked | null>) | null;
  /** The sign-in is good but allows too little: asks a person to sign in for these scopes too. Null: it is no sign-in. */
  widen: ((scopes: readonly string[]) => Asked) | null;
}

export interface CallParts {
  fetch: GuardedFetch;
  credentials: CallCredentials;
  maxResultBytes: number;
  log: Logger;
}

/** A server that is never content must not send a person in circles. */
const MAX_WIDENINGS = 2;
/** Which of several accounts a call is for. No parameter of an API can have this name in the flat input. */
const ACCOUNT = "$account";

export function createSourceTool(parts: CallParts, source: SourceSpec, indexed: IndexedTool, tools: SourceTools): Tool {
  return new SourceTool(parts, source, indexed, tools);
}

const anonymous: Resolved = { kind: "ready", auth: { parts: [], secrets: [] }, renew: null, widen: null };

/** A class, for there may be a hundred thousand of them: methods are shared, and nothing is made before it is used. */
class SourceTool implements Tool {
  readonly #parts: CallParts;
  readonly #source: SourceSpec;
  readonly #indexed: IndexedTool;
  readonly #tools: SourceTools;
  readonly path: string;
  readonly neverAsks = false;
  readonly gatePaths?: (input: unknown) => GatedPart[];

  constructor(parts: CallParts, source: SourceSpec, indexed: IndexedTool, tools: SourceTools) {
    this.#parts = parts;
    this.#source = source;
    this.#indexed = indexed;
    this.#tools = tools;
    this.path = `${source.namespace}.${indexed.name}`;
    if (tools.gatePaths) this.gatePaths = (input) => this.#gateParts(input);
  }

  get source(): string {
    return this.#source.namespace;
  }
  get description(): string {
    return this.#indexed.description;
  }
  get keywords(): string {
    return this.#indexed.keywords;
  }
  get schemaHash(): string {
    return this.#indexed.hash;
  }
  get effect(): IndexedTool["effect"] {
    return this.#indexed.effect;
  }
  get idempotent(): boolean {
    return this.#indexed.idempotent;
  }
  get approval(): ToolApproval {
    return approvalOf(this.#source, this.#indexed);
  }

  shape() {
    return this.#tools.shape(this.#indexed);
  }

  async prepare(call: ToolCall): Promise<Prepared> {
    const { account, input } = takeAccount(call.input);
    const isOpen = this.#source.definition.auth !== undefined && (await this.#tools.isOpen?.(this.#indexed));
    const resolved = isOpen ? anonymous : await this.#parts.credentials.resolve(this.#source, call, account);
    if (resolved.kind === "ask") return resolved;
    const request = { ...call, input };
    const prepared = await this.#prepareWith(request, resolved.auth);
    if (prepared.kind === "ask") return prepared;
    return { kind: "ready", send: () => this.#send(request, resolved, prepared.send) };
  }

  openCall(callId: string): OpenCall | null {
    return this.#tools.openCall?.(this.#indexed, callId) ?? null;
  }

  #prepareWith(call: ToolCall, auth: AuthParts): Promise<Prepared> {
    const { fetch, maxResultBytes } = this.#parts;
    return this.#tools.prepare(this.#indexed, call, { fetch, auth, maxResultBytes });
  }

  /** A refused credential means that nothing happened: a renewed one may try once more, and a dead one is asked for. */
  async #send(call: ToolCall, resolved: Resolved, send: () => Promise<Sent>): Promise<Sent> {
    const sent = await send();
    if ("kind" in sent || sent.ok) return sent;
    if (sent.status !== 401 || !resolved.renew) return widen(call, resolved, sent);
    const renewed = await resolved.renew();
    if (renewed === null) return widen(call, resolved, sent);
    if (renewed.kind === "ask") return renewed;
    const again = await this.#prepareWith(call, renewed.auth);
    if (again.kind === "ask") return again;
    const resent = await again.send();
    return "kind" in resent || resent.ok ? resent : widen(call, renewed, resent);
  }

  #gateParts(input: unknown): GatedPart[] {
    const { namespace } = this.#source;
    const parts = this.#tools.gatePaths?.(this.#indexed, takeAccount(input).input) ?? [];
    return parts.map(({ name, effect }) => ({
      path: `${namespace}.${name}`,
      effect,
      approval: approvalOf(this.#source, { effect, approval: effect === "safe" ? "auto" : "required" }),
    }));
  }
}

/** The server says which scopes it misses (RFC 6750, insufficient_scope): a person may sign in for them, a bounded number of times. */
function widen(call: ToolCall, { widen: ask }: Resolved, refused: Extract<ToolOutcome, { ok: false }>): Sent {
  const { challenge, ...outcome } = refused;
  if (refused.status !== 403 || challenge === undefined || ask === null) return outcome;
  const { scopes = [], error } = readAuthChallenge(challenge);
  if (scopes.length === 0 || (error !== undefined && error !== "insufficient_scope")) return outcome;
  const before = call.answers.filter(({ kind, stateJson }) => kind === "oauth" && stateJson?.includes('"scopes"'));
  if (before.length < MAX_WIDENINGS) return ask(scopes);
  const message = `${outcome.message} It still wants the scopes ${scopes.join(" ").slice(0, 300)} after ${before.length} more sign-ins, so nobody is asked again.`;
  return { ...outcome, message };
}

/** What the source's settings say for reads and writes, then for all, then what the source itself suggests. */
function approvalOf({ definition }: SourceSpec, tool: Pick<IndexedTool, "effect" | "approval">): ToolApproval {
  const own = tool.effect === "safe" ? definition.defaultReadApproval : definition.defaultWriteApproval;
  return own ?? definition.defaultApproval ?? tool.approval;
}

function takeAccount(given: unknown): { account: string | null; input: unknown } {
  if (typeof given !== "object" || given === null || !Object.hasOwn(given, ACCOUNT))
    return { account: null, input: given };
  const { [ACCOUNT]: account, ...input } = given as Record<string, unknown>;
  if (typeof account !== "string" || account === "" || account.length > 100)
    throw new AppError("call.input_invalid", `${ACCOUNT} must be the name of an account.`);
  return { account, input };
}
