/** Code or JSON to read: numbered, coloured, a line marked if one is meant, nothing invisible hidden. */
import { useMemo, useState } from "react";
import { showToast } from "./toast.tsx";
import { IconButton } from "./button.tsx";
import { highlightLines, plainLines, type Token, type TokenKind } from "./highlight.ts";
import { Untrusted } from "./untrusted.tsx";

const COLOURS: Record<TokenKind, string> = {
  plain: "",
  keyword: "text-code-keyword",
  string: "text-code-string",
  number: "text-code-number",
  comment: "text-code-comment",
  call: "text-code-call",
};

/** More lines than anyone reads at once are drawn only when asked for. */
const MAX_LINES = 400;

interface CodeViewProps {
  code: string;
  label: string;
  /** From 1, in order. */
  markedLines?: readonly number[];
  /** Only so many lines above the first and below the last marked one, with the rest one click away. */
  around?: number;
  /** Why a line is marked, for those who do not see its colour. */
  markMeans?: string;
  /** For what is neither TypeScript nor JSON. */
  isPlain?: boolean;
}

const NONE: readonly number[] = [];

export function CodeView(props: CodeViewProps) {
  const { code, label, markedLines = NONE, around, markMeans = "this line", isPlain = false } = props;
  const lines = useMemo(() => (isPlain ? plainLines(code) : highlightLines(code)), [code, isPlain]);
  const [isWhole, setWhole] = useState(false);
  const [max, setMax] = useState(MAX_LINES);
  const [first, last = first] = [markedLines[0], markedLines.at(-1)];
  const near = first === undefined || last === undefined || around === undefined ? undefined : { first, last, around };
  const isPart = near !== undefined && !isWhole && lines.length > near.last - near.first + near.around * 2 + 4;
  const from = isPart ? Math.max(0, near.first - 1 - near.around) : 0;
  const to = Math.min(lines.length, isPart ? Math.min(near.last + near.around, from + MAX_LINES) : max);
  return (
    <figure className="group relative overflow-hidden rounded-lg border border-line bg-sunken">
      <figcaption className="sr-only">{label}</figcaption>
      <pre
        tabIndex={0}
        aria-label={label}
        className="overflow-x-auto py-2 font-mono text-sm leading-5 -outline-offset-2"
      >
        <code className="grid">
          {lines.slice(from, to).map((tokens, at) => (
            <Line
              key={from + at}
              number={from + at + 1}
              tokens={tokens}
              means={markedLines.includes(from + at + 1) ? markMeans : null}
            />
          ))}
        </code>
      </pre>
      <CopyButton text={code} className="absolute top-0 right-0 h-9 w-10 rounded-none bg-sunken!" />
      {(isPart || lines.length > to) && (
        <button
          type="button"
          className="w-full border-t border-line px-3 py-1 text-left text-xs text-accent hover:bg-accent-soft"
          onClick={() => (isPart ? setWhole(true) : setMax(max * 10))}
        >
          {isPart ? `Show all ${lines.length} lines` : `Show more of ${lines.length.toLocaleString("en")} lines`}
        </button>
      )}
    </figure>
  );
}

function Line({ number, tokens, means }: { number: number; tokens: Token[]; means: string | null }) {
  const isMarked = means !== null;
  return (
    <span
      className={`flex pr-10 ${isMarked ? "bg-warn-soft shadow-[inset_3px_0_0_var(--warn)]" : ""}`}
      data-marked={isMarked || undefined}
    >
      <span className="w-11 shrink-0 pr-3 text-right text-muted select-none">{number}</span>
      <span className="whitespace-pre">
        {tokens.map((token, at) => (
          <span key={at} className={isMarked ? "" : COLOURS[token.kind]}>
            <Untrusted
              text={
                token.text.length > 4_000
                  ? `${token.text.slice(0, 4_000)} … ${token.text.length - 4_000} more`
                  : token.text
              }
            />
          </span>
        ))}
        {isMarked && <span className="sr-only">{` (${means})`}</span>}
      </span>
    </span>
  );
}

export function CopyButton({
  text,
  className = "",
  label = "Copy",
}: {
  text: string;
  className?: string;
  label?: string;
}) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      showToast({ text: "Copied.", forMs: 2_000 });
    } catch {
      showToast({
        text: "The browser does not let this page copy. Select the text and copy it yourself.",
        tone: "bad",
      });
    }
  };
  return <IconButton icon="copy" label={label} className={className} onClick={() => void copy()} />;
}
