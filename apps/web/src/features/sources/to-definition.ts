/** What the form says, as a definition for the API; and the other way round. Pure. */
import type { ProbeResult, Source, SourceAuth, SourceDefinition, SourceType, ToolApproval } from "@executor/client";

export type AuthType = "none" | "bearer" | "apiKey" | "basic" | "oauth2";
export type KeyPlace = "header" | "query" | "cookie";

export interface SourceForm {
  type: SourceType;
  name: string;
  namespace: string;
  /** Address of an MCP server or a GraphQL endpoint. */
  url: string;
  /** Address or text of a document. */
  spec: string;
  baseUrl: string;
  command: string;
  authType: AuthType;
  /** Whose secret it is. */
  authMode: "workspace" | "actor";
  keyPlace: KeyPlace;
  keyName: string;
  clientId: string;
  scopes: string;
  reads: ToolApproval | "default";
  writes: ToolApproval | "default";
}

export const emptyForm: SourceForm = {
  type: "openapi",
  name: "",
  namespace: "",
  url: "",
  spec: "",
  baseUrl: "",
  command: "",
  authType: "none",
  authMode: "workspace",
  keyPlace: "header",
  keyName: "",
  clientId: "",
  scopes: "",
  reads: "default",
  writes: "default",
};

/** Who looked at a URL knows most of it. */
export function formFromProbe(probe: ProbeResult): SourceForm {
  const definition = probe.definition ?? {};
  const text = (field: string): string => {
    const value = (definition as Record<string, unknown>)[field];
    return typeof value === "string" ? value : "";
  };
  const [authType = "none"] = probe.auth.types.filter(isAuthType);
  return {
    ...emptyForm,
    type: probe.type ?? "openapi",
    name: probe.name.slice(0, 100),
    namespace: probe.namespace,
    url: text("url"),
    spec: text("spec"),
    baseUrl: text("baseUrl"),
    authType: authType === "none" && probe.auth.required ? "bearer" : authType,
    ...placeOf((definition as { auth?: unknown }).auth),
  };
}

export function formFromSource(source: Source): SourceForm {
  const auth = (source.auth ?? {}) as Record<string, unknown>;
  const scopes = Array.isArray(auth["scopes"]) ? auth["scopes"].join(" ") : "";
  return {
    ...emptyForm,
    type: source.type,
    name: source.name,
    namespace: source.namespace,
    url: source.url ?? "",
    spec: source.spec ?? "",
    baseUrl: source.baseUrl ?? "",
    command: source.command ?? "",
    authType: isAuthType(auth["type"]) ? auth["type"] : "none",
    authMode: auth["mode"] === "actor" ? "actor" : "workspace",
    clientId: typeof auth["clientId"] === "string" ? auth["clientId"] : "",
    scopes,
    ...placeOf(auth),
    reads: source.defaultReadApproval ?? source.defaultApproval ?? "default",
    writes: source.defaultWriteApproval ?? source.defaultApproval ?? "default",
  };
}

export function toDefinition(form: SourceForm): SourceDefinition {
  const auth = toAuth(form);
  const { type, name, namespace, url, spec, baseUrl, command, reads, writes } = form;
  const [program = "", ...args] = splitCommand(command);
  return {
    type,
    name: name.trim(),
    ...(namespace !== "" && { namespace }),
    ...(type === "openapi"
      ? { spec: spec.trim(), ...(baseUrl !== "" && { baseUrl }) }
      : program !== ""
        ? { command: program, ...(args.length > 0 && { args }) }
        : { url: url.trim(), ...(type === "graphql" && spec.trim() !== "" && { spec: spec.trim() }) }),
    ...(auth && { auth }),
    ...(reads !== "default" && { defaultReadApproval: reads }),
    ...(writes !== "default" && { defaultWriteApproval: writes }),
  };
}

export function toAuth({
  authType,
  authMode,
  keyPlace,
  keyName,
  clientId,
  scopes,
}: SourceForm): SourceAuth | undefined {
  if (authType === "none") return undefined;
  if (authType === "apiKey") return { mode: authMode, type: "apiKey", [keyPlace]: keyName.trim() };
  if (authType !== "oauth2") return { mode: authMode, type: authType };
  const wanted = scopes.split(/[\s,]+/).filter((scope) => scope !== "");
  return {
    mode: authMode,
    type: "oauth2",
    ...(clientId.trim() !== "" && { clientId: clientId.trim() }),
    ...(wanted.length > 0 && { scopes: wanted }),
  };
}

/** What is missing, by field: empty when it may be sent. */
export function problemsOf(form: SourceForm): Partial<Record<keyof SourceForm, string>> {
  const problems: Partial<Record<keyof SourceForm, string>> = {};
  if (form.name.trim() === "") problems.name = "Give it a name.";
  if (form.namespace !== "" && !/^[a-z][a-z0-9_]{0,62}$/.test(form.namespace))
    problems.namespace = "Lower-case letters, digits and _, starting with a letter.";
  if (form.type === "openapi" && form.spec.trim() === "") problems.spec = "The address or the text of the document.";
  if (form.type !== "openapi" && form.command.trim() === "" && !/^https?:\/\//.test(form.url.trim()))
    problems.url = "An http or https address.";
  if (form.baseUrl !== "" && !/^https?:\/\//.test(form.baseUrl)) problems.baseUrl = "An http or https address.";
  if (form.authType === "apiKey" && form.keyName.trim() === "")
    problems.keyName = "The name under which the key is sent.";
  return problems;
}

/** `npx -y "my server"` is three pieces. */
export function splitCommand(text: string): string[] {
  return [...text.matchAll(/"((?:\\.|[^"\\])*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double?.replace(/\\(.)/g, "$1") ?? single ?? bare ?? "",
  );
}

export const isAuthType = (value: unknown): value is AuthType =>
  typeof value === "string" && ["bearer", "apiKey", "basic", "oauth2"].includes(value);

function placeOf(auth: unknown): Partial<SourceForm> {
  const known = (auth ?? {}) as Record<string, unknown>;
  for (const keyPlace of ["header", "query", "cookie"] as const) {
    const keyName = known[keyPlace];
    if (typeof keyName === "string") return { keyPlace, keyName };
  }
  return {};
}
