/** TypeScript in the editor: colours of the theme, completion and hover from the catalog. */
import { autocompletion, type CompletionContext, type CompletionResult, closeBrackets } from "@codemirror/autocomplete";
import { javascript } from "@codemirror/lang-javascript";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView, hoverTooltip } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { toPlainText } from "../../ui/visible.ts";
import { completeToolPath, describeTool } from "./catalog.ts";

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.controlKeyword, tags.moduleKeyword, tags.bool, tags.null], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--code-string)" },
  { tag: tags.number, color: "var(--code-number)" },
  { tag: tags.comment, color: "var(--code-comment)" },
  { tag: [tags.function(tags.propertyName), tags.function(tags.variableName)], color: "var(--code-call)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", fontSize: "0.875rem", backgroundColor: "var(--surface)", color: "var(--fg)" },
  // The element around it shows the focus.
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--accent)", padding: "0.75rem 0" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--muted)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--sunken)" },
  ".cm-cursor": { borderLeftColor: "var(--accent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--accent-soft) !important",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--fg)",
    border: "1px solid var(--line)",
    borderRadius: "0.5rem",
    boxShadow: "var(--shadow)",
    maxWidth: "min(36rem, 90vw)",
    overflow: "hidden",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent-soft)", color: "var(--accent)" },
  ".cm-completionDetail": { color: "var(--muted)", fontStyle: "normal" },
  ".cm-placeholder": { color: "var(--muted)" },
  ".about-tool": { padding: "0.5rem 0.75rem", whiteSpace: "pre-wrap", maxHeight: "16rem", overflow: "auto" },
  ".about-tool .signature": { fontFamily: "ui-monospace, monospace", fontSize: "0.8125rem" },
  ".about-tool .asks": { color: "var(--warn)", fontSize: "0.75rem" },
});

async function completeTools(context: CompletionContext): Promise<CompletionResult | null> {
  const found = context.matchBefore(/\btools\s*\.[\w$.]*/);
  if (!found) return null;
  const typed = found.text.replace(/^tools\s*\./, "").split(".");
  const last = typed.pop() ?? "";
  const options = await completeToolPath(typed).catch(() => []);
  return {
    from: context.pos - last.length,
    validFor: /^[\w$]*$/,
    options: options.map(({ segment, tool }) => ({
      label: segment,
      type: tool ? "function" : "namespace",
      ...(tool && { detail: tool.approval === "required" ? "asks" : "", info: () => aboutTool(tool) }),
    })),
  };
}

const hoverTools = hoverTooltip(async (view, pos) => {
  const line = view.state.doc.lineAt(pos);
  for (const found of line.text.matchAll(/\btools((?:\s*\.\s*[\w$]+)+)/g)) {
    const from = line.from + found.index;
    const to = from + found[0].length;
    if (pos < from || pos > to) continue;
    const tool = await describeTool((found[1] ?? "").replace(/\s+/g, "").slice(1));
    return tool && { pos: from, end: to, create: () => ({ dom: aboutTool(tool) }) };
  }
  return null;
});

/** Its words are its source's: text only, and what is invisible in them is shown. */
function aboutTool(tool: { path: string; signature: string; description: string; approval: string }): HTMLElement {
  const about = document.createElement("div");
  about.className = "about-tool";
  about.append(part("signature", toPlainText(tool.signature, 1_500)), part("", toPlainText(tool.description, 800)));
  if (tool.approval === "required") about.append(part("asks", "A person is asked before each call."));
  return about;
}

function part(className: string, text: string): HTMLElement {
  const made = document.createElement("div");
  made.className = className;
  made.textContent = text;
  return made;
}

export const editorLanguage: Extension = [
  javascript({ typescript: true }),
  syntaxHighlighting(colours),
  look,
  closeBrackets(),
  autocompletion({ override: [completeTools], icons: false }),
  hoverTools,
];
