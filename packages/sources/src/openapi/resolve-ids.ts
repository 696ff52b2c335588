/**
 * JSON Schema 2020-12 lets a schema have an address (`$id`) and names in it (`$anchor`, `$dynamicAnchor`). References to these are
 * made plain pointers into the document, in place and once, so that nothing after this need know of them. A dynamic reference
 * leads to its first anchor: what a reader of the document would follow too.
 */
import { isRecord, lookUp, type RawDocument } from "./raw-document.ts";

/** A cheap look at the text: hardly any document has them. */
export const mentionsIds = (text: string): boolean =>
  text.includes("$id") || text.includes("$anchor") || text.includes("$dynamicAnchor");

export function resolveIds(document: RawDocument): void {
  const found = findIds(document);
  for (const { schema, scope } of found.refs) {
    const dynamic = schema.$dynamicRef;
    const ref = typeof schema.$ref === "string" ? schema.$ref : dynamic;
    if (typeof ref !== "string") continue;
    const pointer = pointerOf(document, found, scope, ref);
    if (pointer === null) continue;
    schema.$ref = pointer;
    if (dynamic !== undefined) schema.$dynamicRef = undefined;
  }
}

/** Where a schema stands: below the nearest `$id`, or in the document itself. */
interface Scope {
  url: string;
  pointer: string;
}

interface Found {
  home: Scope;
  /** By address without fragment. */
  ids: Map<string, Scope>;
  /** Pointers by `address#name`. */
  anchors: Map<string, string>;
  refs: { schema: Record<string, unknown>; scope: Scope }[];
}

const values = new Set(["example", "examples", "enum", "const", "default"]);

function findIds({ root, urls }: RawDocument): Found {
  const home: Scope = { url: urls.at(-1) ?? "https://inline.invalid/", pointer: "#" };
  const found: Found = { home, ids: new Map(), anchors: new Map(), refs: [] };
  const seen = new Set<unknown>();
  const open: { at: unknown; pointer: string; scope: Scope }[] = [{ at: root, pointer: "#", scope: home }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { at, pointer } = next;
    if (typeof at !== "object" || at === null || seen.has(at)) continue;
    seen.add(at);
    const scope = isRecord(at) ? enter(found, at, pointer, next.scope) : next.scope;
    for (const [key, value] of Object.entries(at)) {
      if (typeof value !== "object" || value === null || values.has(key)) continue;
      const part = key.replaceAll("~", "~0").replaceAll("/", "~1");
      open.push({ at: value, pointer: `${pointer}/${part}`, scope });
    }
  }
  return found;
}

/** Notes what a schema calls itself and refers to; gives the scope of what is in it. */
function enter(found: Found, schema: Record<string, unknown>, pointer: string, around: Scope): Scope {
  const { $id, $anchor, $dynamicAnchor, $ref, $dynamicRef } = schema;
  let scope = around;
  if (typeof $id === "string" && !$id.startsWith("#") && URL.canParse($id, around.url)) {
    scope = { url: withoutHash(new URL($id, around.url).href), pointer };
    if (!found.ids.has(scope.url)) found.ids.set(scope.url, scope);
  }
  for (const name of [$anchor, $dynamicAnchor]) {
    const key = `${scope.url}#${String(name)}`;
    if (typeof name === "string" && !found.anchors.has(key)) found.anchors.set(key, pointer);
  }
  if (typeof $ref === "string" || typeof $dynamicRef === "string") found.refs.push({ schema, scope });
  return scope;
}

/** Null: it is a plain reference already, or leads out of the document. */
function pointerOf(document: RawDocument, found: Found, scope: Scope, ref: string): string | null {
  if (!URL.canParse(ref, scope.url)) return null;
  const target = new URL(ref, scope.url);
  const { hash } = target;
  const url = withoutHash(target.href);
  const there = ref.startsWith("#")
    ? scope
    : (found.ids.get(url) ?? (url === withoutHash(found.home.url) ? found.home : null));
  if (there === null) return null;
  if (hash === "" || hash === "#") return there.pointer;
  if (!hash.startsWith("#/")) return found.anchors.get(`${there.url}${hash}`) ?? null;
  // As it was written: a URL encodes what pointers do not.
  const rest = ref.slice(ref.indexOf("#") + 1);
  const pointer = `${there.pointer}${rest}`;
  // Many documents give a component an $id and count their references from the document's root all the same.
  return lookUp(document, pointer) === undefined ? null : pointer;
}

const withoutHash = (url: string): string => url.split("#", 1)[0] as string;
