/** Problems as underlines in the editor, with their words on hover. */
import { type Diagnostic, setDiagnostics } from "@codemirror/lint";
import type { Text } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { toPlainText } from "../../ui/visible.ts";
import type { Problem } from "./problems.ts";

export const underlineLook = EditorView.theme({
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--bad)",
    textDecorationSkipInk: "none",
  },
  ".cm-lintPoint-error:after": { borderBottomColor: "var(--bad)" },
  ".cm-diagnostic": { padding: "0.5rem 0.75rem", whiteSpace: "pre-wrap" },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--bad)" },
});

export function underline(view: EditorView, problems: readonly Problem[]): void {
  const diagnostics = problems.map((problem) => toDiagnostic(view.state.doc, problem));
  view.dispatch(setDiagnostics(view.state, diagnostics));
}

export function goTo(view: EditorView, problem: Problem): void {
  const { from } = toDiagnostic(view.state.doc, problem);
  view.dispatch({ selection: { anchor: from }, scrollIntoView: true });
  view.focus();
}

/** From its place to the end of the word there. The server counts in the same code, but nothing here may rely on it. */
function toDiagnostic(doc: Text, { line, column, message, hint }: Problem): Diagnostic {
  const found = doc.line(Math.min(Math.max(line, 1), doc.lines));
  const from = Math.min(found.from + Math.max(column - 1, 0), found.to);
  const word = /^[\w$]+/.exec(doc.sliceString(from, found.to))?.[0] ?? "";
  const text = hint === undefined ? message : `${message}\n${hint}`;
  return {
    from,
    to: Math.min(from + Math.max(word.length, 1), found.to),
    severity: "error",
    message: toPlainText(text, 2_000),
  };
}
