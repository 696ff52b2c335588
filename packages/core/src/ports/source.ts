/**
 * A kind of source: what turns a document or a server into tools, and a call of one of them into a request.
 * Each kind is a room of its own in packages/sources (openapi, graphql, mcp); nobody else asks which kind a tool is of.
 * Reading happens in the background and gives plain data that is stored by its digest and shared between workspaces;
 * opening that data again must be cheap, and schemas are looked at only when a tool is described or called.
 */
import type { SourceDefinition, SourceType } from "@executor/contracts/source";
import type { JsonSchema, ToolApproval, ToolEffect } from "@executor/contracts/tool";
import type { OpenCall, Prepared, ToolCall } from "../tools/tool.ts";

export interface SourceKind {
  readonly type: SourceType;
  /** Reads the source and makes all its tools. Throws AppError `source.unreadable` when there is nothing to be had. */
  read(source: SourceSpec, io: ReadIo): Promise<SourceIndex>;
  /** Is this URL one of mine? Null when not. Never throws for what the other side answers. */
  probe(url: string, io: ReadIo): Promise<ProbeFinding | null>;
  /**
   * Where calls of an index go under a definition: origins. For people, and to notice that a source moved. Pure.
   * Null, or left out: the definition alone says it.
   */
  hosts?(metaJson: string, definition: PublicDefinition): string[] | null | Promise<string[] | null>;
  /** The WWW-Authenticate with which the source answers a stranger: where a sign-in begins. Null: it has none. Never throws. */
  askChallenge?(source: SourceSpec, io: ReadIo): Promise<string | null>;
  /** Makes the tools of an index that was read before, maybe by another process. Does no work yet. */
  open(opened: OpenedIndex): SourceTools | Promise<SourceTools>;
}

/** A kind whose code is there already. */
export interface LoadedKind extends SourceKind {
  open(opened: OpenedIndex): SourceTools;
}

/** A source as the kinds see it. The definition holds no secret: those are in `auth` of the io. */
export interface SourceSpec {
  sourceId: string;
  workspaceId: string;
  namespace: string;
  definition: PublicDefinition;
  /** Where its calls go, once it was read and the definition alone does not say it. */
  hosts?: readonly string[];
}

/** What remains of `auth` when the secret is taken out. */
export type PublicDefinition = Omit<SourceDefinition, "auth"> & { auth?: PublicAuth };
export interface PublicAuth {
  mode: "static" | "workspace" | "actor";
  type: "bearer" | "apiKey" | "basic" | "oauth2";
  header?: string;
  query?: string;
  cookie?: string;
  username?: string;
  [option: string]: unknown;
}

export interface ReadIo {
  fetch: GuardedFetch;
  /** What to send along; empty when the source needs none or none is there yet. */
  auth: AuthParts;
  /** May read `file:` documents and start processes: env config and installation admins only. */
  mayReachMachine: boolean;
  signal: AbortSignal;
  onProgress(progress: ReadProgress): void;
}

export interface ReadProgress {
  phase: "fetching" | "parsing" | "indexing" | "storing";
  /** Of `total` tools, operations or bytes, where known. */
  done?: number;
  total?: number;
}

/** Plain data: it is written as JSON, compressed, and addressed by its digest. */
export interface SourceIndex {
  /** Names are unique and stable; the order is that of the document. */
  tools: IndexedTool[];
  /** What was left out, renamed or guessed: short sentences for people. Bounded by whoever makes them. */
  warnings: string[];
  /** JSON texts back to back; each tool says where its own lies. Loaded only when a tool is described or called. */
  details: string;
  /** What `open` needs besides (servers, where components lie in `details`, session facts). Small; loaded with the tools. */
  metaJson: string;
  /** What the source calls itself. */
  title: string;
  /** The document as it came, for people to look at; null where there is none. */
  document: { contentType: string; text: string } | null;
}

export interface IndexedTool {
  /** Path below the namespace: `issues.list_for_repo`. Identifiers joined by dots; never changes for the same operation. */
  name: string;
  /** Plain text for people and models, at most 1,000 characters. */
  description: string;
  effect: ToolEffect;
  /** Sends a key by which the other side recognises a repetition. */
  idempotent: boolean;
  /** What the source itself suggests when neither policy nor the source's settings say anything. */
  approval: ToolApproval;
  /** Of everything a caller relies on (description, schemas, method and place): an approval is bound to it. */
  hash: string;
  /** More words to be found by, besides name and description: tags, the path's parts, names of parameters. */
  keywords: string;
  /** Where its JSON lies in `details`. */
  at: number;
  length: number;
}

export interface OpenedIndex {
  source: SourceSpec;
  metaJson: string;
  /** Loaded once, kept while used, shared between workspaces. */
  details(): Promise<string>;
  /** The other side says that its tools are others now. */
  onListChanged?(): void;
}

export interface SourceTools {
  /** Schemas and signature, made when somebody asks. */
  shape(tool: IndexedTool): Promise<ToolShape>;
  /** It needs no credential, though its source has one: none is looked up, asked for or sent. */
  isOpen?(tool: IndexedTool): Promise<boolean>;
  /** Checks the input and makes the request ready; nothing is sent before `send`. Throws AppError `call.input_invalid`. */
  prepare(tool: IndexedTool, call: ToolCall, io: CallIo): Promise<Prepared>;
  /** Called with the input of a call before it is gated: what the gate must judge instead of the tool itself. None: the tool stands for itself. Throws AppError. */
  gatePaths?(tool: IndexedTool, input: unknown): GatePath[];
  /** A call that waits in this process for a person's answer, see `Tool.openCall`. */
  openCall?(tool: IndexedTool, callId: string): OpenCall | null;
  /** Something is open that must end with the source (sessions, processes). */
  isHolding?(): boolean;
  /** Ends what it holds open (sessions, processes). */
  close?(): Promise<void>;
}

/** A raw document stands for all the fields in it: every one of them passes the gate. */
export interface GatePath {
  name: string;
  effect: ToolEffect;
}

export interface ToolShape {
  /** TypeScript, one line: `(input: {…}) => Promise<…>`. */
  signature: string;
  inputSchema: JsonSchema;
  outputSchema: JsonSchema;
}

export interface CallIo {
  fetch: GuardedFetch;
  auth: AuthParts;
  maxResultBytes: number;
}

/** Where a secret goes. Several may be needed at once (two keys, a key and a cookie). */
export type AuthPart =
  | { in: "header"; name: string; value: string }
  | { in: "query"; name: string; value: string }
  | { in: "cookie"; name: string; value: string }
  /** For processes: an environment variable. */
  | { in: "env"; name: string; value: string };
export interface AuthParts {
  parts: readonly AuthPart[];
  /** Every secret text in `parts`, also as it is encoded there: what redaction looks for. */
  secrets: readonly string[];
}

/**
 * `fetch` behind the egress guard: the only way out. Scheme, address (resolved, checked, pinned), redirects, sizes and times
 * are checked inside; what is refused throws AppError `egress.refused`, `egress.too_large`, `egress.timeout` or `egress.failed`.
 */
export type GuardedFetch = (url: string | URL, init?: GuardedInit) => Promise<GuardedResponse>;
/** `isPublic`: it came from the internet. What it names may then not lead into this machine or its network. */
export type GuardedResponse = Response & { readonly isPublic?: boolean };
export interface GuardedInit {
  method?: string;
  headers?: HeadersInit;
  body?: BodyInit | null;
  signal?: AbortSignal | null;
  /** Default "follow": at most five, each one checked anew. */
  redirect?: "follow" | "manual" | "error";
  /** Of the decoded body; default 50 MB for documents. */
  maxBytes?: number;
  /** To the end of the body; default 60 s. Zero: the signal alone decides (streams). */
  timeoutMs?: number;
  /** Somebody on the internet named the address: it must not be of this machine or a private network, whatever is allowed. */
  publicOnly?: boolean;
  /** Names of headers and query parameters that hold secrets, besides Authorization and Cookie: dropped across origins. */
  sensitive?: { headers?: readonly string[]; query?: readonly string[] };
}

/** What a look at a URL found. */
export interface ProbeFinding {
  type: SourceType;
  /** 0 to 1. */
  confidence: number;
  name: string;
  /** `streamable-http`, `sse`; or the format: `openapi-3.1`, `swagger-2.0`, `introspection`, `sdl`. */
  transport: string;
  /** The definition to add it with (spec or url resolved). */
  definition: PublicDefinition;
  auth: { required: boolean; types: PublicAuth["type"][]; detail: string };
  toolCount: number | null;
  warnings: string[];
}
