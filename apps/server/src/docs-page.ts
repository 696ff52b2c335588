/** The API to read: one page made from the OpenAPI document, without a script and without anything from elsewhere. */
import { createHash } from "node:crypto";
import { errorTable } from "@executor/contracts/error";
import type { Json } from "./openapi.ts";

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
h2{margin-top:2.5rem;border-bottom:1px solid #ccc}code,pre{font:14px/1.45 ui-monospace,monospace}pre{overflow:auto;background:#f4f4f4;padding:.75rem}
table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid #ddd}
@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}pre{background:#222}a{color:#8ab4f8}td,th{border-color:#333}}`;

/** Allows exactly the style above, by its digest. */
export const DOCS_POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

export function buildDocsPage(document: Json): string {
  const { info, paths, components } = document as {
    info: { version: string };
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, Json> };
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Executor API</title><style>${STYLE}</style></head><body>
<h1>Executor API ${escape(info.version)}</h1>
<p>JSON over HTTP. Send <code>Authorization: Bearer TOKEN</code>. The same as <a href="/api/openapi.json">OpenAPI 3.1</a>.</p>
<h2>Routes</h2>
<table><thead><tr><th>Route</th><th>Role</th><th>What it does</th><th>Body</th><th>Answer</th></tr></thead><tbody>
${operations.map(({ path, method, operation }) => writeOperation(path, method, operation)).join("\n")}
</tbody></table>
<h2>Schemas</h2>
${Object.entries(components.schemas)
  .map(
    ([name, schema]) =>
      `<h3 id="schema-${escape(name)}">${escape(name)}</h3><pre>${escape(JSON.stringify(schema, null, 2))}</pre>`,
  )
  .join("\n")}
<h2>Refusals</h2>
<table><thead><tr><th>Code</th><th>Status</th><th>Meaning</th></tr></thead><tbody>
${Object.entries(errorTable)
  .map(
    ([code, { status, title }]) =>
      `<tr id="${escape(code)}"><td><code>${escape(code)}</code></td><td>${status}</td><td>${escape(title)}</td></tr>`,
  )
  .join("\n")}
</tbody></table>
</body></html>
`;
}

interface Operation {
  summary: string;
  "x-role": string;
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { schema: Json }> };
  responses: Record<string, { content?: Record<string, { schema: Json }> }>;
}

function writeOperation(path: string, method: string, operation: Operation): string {
  const query = (operation.parameters ?? []).filter((parameter) => parameter.in === "query").map(({ name }) => name);
  const answers = Object.entries(operation.responses).filter(([status]) => status.startsWith("2"));
  const asked = query.length > 0 ? `<br><small>?${escape(query.join(" &"))}</small>` : "";
  return `<tr><td><code>${method.toUpperCase()} ${escape(path)}</code>${asked}</td><td>${escape(operation["x-role"])}</td><td>${escape(operation.summary)}</td><td>${linkOf(operation.requestBody?.content)}</td><td>${answers.map(([status, { content }]) => `${status} ${linkOf(content)}`).join("<br>")}</td></tr>`;
}

function linkOf(content: Record<string, { schema: Json }> | undefined): string {
  const [type, media] = Object.entries(content ?? {})[0] ?? [];
  if (!media) return "";
  const names = [
    ...new Set(
      [...JSON.stringify(media.schema).matchAll(/#\/components\/schemas\/(\w+)/g)].map((match) => match[1] ?? ""),
    ),
  ];
  return names.length > 0
    ? names.map((name) => `<a href="#schema-${escape(name)}">${escape(name)}</a>`).join(", ")
    : escape(type === "application/json" ? "object" : (type ?? ""));
}

const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
