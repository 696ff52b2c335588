/**
 * The editor, loaded only where code is written. It lives in a shadow root: its styles are then adopted style sheets, which
 * the content security policy allows, instead of style elements, which it refuses.
 */
import { closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { Prec } from "@codemirror/state";
import {
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  placeholder,
} from "@codemirror/view";
import { useEffect, useEffectEvent, useRef } from "react";
import { editorLanguage } from "./editor-language.ts";
import type { Problem } from "./problems.ts";
import { goTo, underline, underlineLook } from "./underline.ts";

interface CodeEditorProps {
  /** A new value replaces what is written. */
  initial: string;
  onChange: (code: string) => void;
  onRun: () => void;
  problems: readonly Problem[];
  /** Where the cursor is to go; a new object goes again. */
  target: { problem: Problem } | null;
}

export function CodeEditor({ initial, onChange, onRun, problems, target }: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  const run = useEffectEvent(onRun);
  const change = useEffectEvent(onChange);
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const view = new EditorView({
      doc: initial,
      root,
      parent: root,
      extensions: [
        Prec.highest(keymap.of([{ key: "Mod-Enter", run: () => (run(), true) }])),
        keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
        lineNumbers(),
        history(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        // Control, bidirectional and zero-width characters are shown as what they are.
        highlightSpecialChars({ addSpecialChars: /[\u202a-\u202e\u2066-\u2069\u200b-\u200f\u2060-\u2064]/g }),
        indentOnInput(),
        bracketMatching(),
        placeholder("return await tools.…"),
        editorLanguage,
        underlineLook,
        EditorView.contentAttributes.of({ "aria-label": "Code of the task" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) change(update.state.doc.toString());
        }),
      ],
    });
    view.focus();
    editor.current = view;
    return () => view.destroy();
  }, [initial]);
  useEffect(() => {
    if (editor.current) underline(editor.current, problems);
  }, [initial, problems]);
  useEffect(() => {
    if (editor.current && target) goTo(editor.current, target.problem);
  }, [target]);
  return (
    <div ref={host} data-typing className="h-full min-h-0 border-2 border-transparent focus-within:border-accent" />
  );
}
