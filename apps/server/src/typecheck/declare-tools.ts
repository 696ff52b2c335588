/**
 * Declarations of tools for the type checker and for editors: `declare const tools: { … }`, as one caller may see them.
 * Where a type cannot be had it is `any`: code is never refused for what we do not know.
 */
import { findVisible, look, type ToolView, type VisibleTool, visibleTools } from "@executor/core/tools/describe-tools";
import { signatureOf } from "@executor/sources/schema/schema-to-typescript";
import type { Mention, Mentions } from "./find-mentions.ts";
import { toolsOfGroup } from "./tool-groups.ts";

export interface Declared {
  text: string;
  /** Mentions that no tool and no group of tools answers to. */
  unknown: Mention[];
  /** What could not be declared: short sentences. */
  notes: string[];
  /** By path, for people. */
  signatures: Map<string, string>;
}

interface Node {
  signature: string | null;
  /** Anything may be below. */
  isOpen: boolean;
  children: Map<string, Node>;
}

/** A program that takes a whole group into a variable gets its types up to this many. */
const MAX_GROUP = 150;
const MAX_INPUT = 20_000;
const MAX_OUTPUT = 12_000;
const MAX_NOTES = 5;

export async function declareMentioned(
  view: ToolView,
  code: string,
  { mentions, isWhole }: Mentions,
): Promise<Declared> {
  const declared: Declared = { text: "", unknown: [], notes: [], signatures: new Map() };
  const root = newNode();
  root.isOpen = isWhole;
  if (isWhole) declared.notes.push("`tools` is used as a value; names found that way were not checked");
  const takesBody = /\bbody\b/.test(code);
  const known = new Map<string, boolean>();
  for (const each of mentions) {
    const path = each.chain.join(".");
    const isThere = known.get(path) ?? (await declareOne(view, root, each, declared, takesBody));
    known.set(path, isThere);
    if (!isThere) declared.unknown.push(each);
  }
  declared.text = `declare const tools: ${write(root)};\n`;
  return declared;
}

/** False when there is nothing of that name. */
async function declareOne(
  view: ToolView,
  root: Node,
  mention: Mention,
  declared: Declared,
  takesBody: boolean,
): Promise<boolean> {
  const { chain } = mention;
  for (let length = chain.length; length > 0; length--) {
    const path = chain.slice(0, length).join(".");
    if (declared.signatures.has(path)) return true;
    const tool = findVisible(view, path);
    if (tool) {
      await put(root, tool, declared, takesBody);
      return true;
    }
    const group = toolsBelow(view, path);
    if (group.length === 0) continue;
    if (length < chain.length) {
      // The group is there, and what is named in it is not.
      nodeAt(root, chain.slice(0, length));
      return false;
    }
    if (group.length > MAX_GROUP) {
      nodeAt(root, chain).isOpen = true;
      note(declared, `tools.${path} has more than ${MAX_GROUP} tools; what is used of it was not checked`);
    } else {
      for (const each of group) await put(root, each, declared, takesBody);
    }
    return true;
  }
  return false;
}

/** Every tool of a caller, for editors. */
export async function* declareAll(view: ToolView, namespace?: string): AsyncGenerator<string> {
  const byNamespace = Map.groupBy(visibleTools(view, namespace), ({ tool }) => tool.path.split(".", 1)[0] ?? "");
  yield "declare const tools: {\n";
  for (const [name, tools] of byNamespace) {
    const declared: Declared = { text: "", unknown: [], notes: [], signatures: new Map() };
    const root = newNode();
    for (const tool of tools) await put(root, tool, declared, false);
    const node = root.children.get(name);
    if (node) yield `  readonly ${JSON.stringify(name)}: ${write(node, 1)};\n`;
  }
  yield "};\n";
}

/** Of a large group only that it is there: its tools are not declared. */
function toolsBelow(view: ToolView, path: string): VisibleTool[] {
  const visible: VisibleTool[] = [];
  for (const tool of toolsOfGroup(view.catalog, path)) {
    const seen = look(view, tool);
    if (seen) visible.push(seen);
    if (visible.length > MAX_GROUP) break;
  }
  return visible;
}

async function put(root: Node, visible: VisibleTool, declared: Declared, takesBody: boolean): Promise<void> {
  const { tool } = visible;
  const signature = await signatureFor(visible, takesBody).catch(() => null);
  if (signature === null) note(declared, `the types of ${tool.path} cannot be read; calls of it were not checked`);
  if (signature) declared.signatures.set(tool.path, signature.shown);
  nodeAt(root, tool.path.split(".")).signature = signature?.declared ?? "any";
}

async function signatureFor({ tool }: VisibleTool, takesBody: boolean): Promise<{ shown: string; declared: string }> {
  const shape = await tool.shape();
  if (tool.source === "executor") return { shown: shape.signature, declared: shape.signature };
  const text = signatureOf(shape, { maxInput: MAX_INPUT, maxOutput: MAX_OUTPUT, elided: "any" });
  const [, input = "any", output = "any"] = /^\(input\??: (.*)\) => (Promise<.*>)$/s.exec(text) ?? [];
  const optional = text.startsWith("(input?") ? "?" : "";
  // Besides what its schema says every tool takes the account to use, and a whole `body`.
  const accepted = takesBody
    ? `(${input}) & { $account?: string } | { body: any; [name: string]: any }`
    : `(${input}) & { $account?: string }`;
  return { shown: text, declared: `(input${optional}: ${accepted}) => ${output}` };
}

const newNode = (): Node => ({ signature: null, isOpen: false, children: new Map() });

function nodeAt(root: Node, chain: readonly string[]): Node {
  let node = root;
  for (const name of chain) {
    const child = node.children.get(name) ?? newNode();
    node.children.set(name, child);
    node = child;
  }
  return node;
}

function write(node: Node, level = 0): string {
  const pad = "  ".repeat(level + 1);
  const fields = [...node.children].map(
    ([name, child]) => `${pad}readonly ${JSON.stringify(name)}: ${write(child, level + 1)};\n`,
  );
  if (node.isOpen) fields.push(`${pad}readonly [name: string]: any;\n`);
  if (node.signature !== null && fields.length === 0) return node.signature;
  // Never the plain `{}`, of which the checker takes any property.
  if (fields.length === 0) fields.push(`${pad}readonly "no tool of these names"?: never;\n`);
  const object = `{\n${fields.join("")}${"  ".repeat(level)}}`;
  return node.signature === null ? object : `(${node.signature}) & ${object}`;
}

function note({ notes }: Declared, text: string): void {
  if (notes.length < MAX_NOTES) notes.push(text);
}
