/**
 * The one way in which text that we did not write reaches the page: names, descriptions, inputs, results, errors, code.
 * It is never markup, never a link, never an image; what would hide or turn it is marked; long text is folded, and says
 * how much is folded.
 */
import { Fragment, useState } from "react";
import { toPieces } from "./visible.ts";

export function Untrusted({ text, className = "" }: { text: string; className?: string }) {
  return (
    // Isolated: what it does to the direction of text ends with it.
    <bdi className={`break-words [overflow-wrap:anywhere] ${className}`}>
      {toPieces(text).map((piece, at) =>
        piece.kind === "text" ? (
          <Fragment key={at}>{piece.text}</Fragment>
        ) : (
          <mark
            key={at}
            title={piece.title}
            className="mx-px rounded-sm bg-warn-soft px-1 font-mono text-[0.85em] text-warn not-italic"
          >
            {piece.label}
          </mark>
        ),
      )}
    </bdi>
  );
}

const HEAD = 1_500;
const TAIL = 300;
const STEP = 50_000;

/** Text of any length, its end always in sight: a long beginning must not hide what comes last. */
export function LongText({ text, className = "" }: { text: string; className?: string }) {
  const [shown, setShown] = useState(HEAD);
  const hidden = text.length - shown - TAIL;
  if (hidden <= 0) return <Untrusted text={text} className={`whitespace-pre-wrap ${className}`} />;
  return (
    <span className={className}>
      <Untrusted text={text.slice(0, shown)} className="whitespace-pre-wrap" />
      <button
        type="button"
        className="my-1 block w-full rounded-md border border-dashed border-line-strong px-2 py-1 text-left font-sans text-sm text-accent hover:bg-accent-soft"
        onClick={() => setShown(shown + STEP)}
      >
        {`Show ${Math.min(hidden, STEP).toLocaleString("en")} of ${hidden.toLocaleString("en")} characters left out here`}
      </button>
      <Untrusted text={text.slice(-TAIL)} className="whitespace-pre-wrap" />
    </span>
  );
}

/** A link that came from outside: never clickable without its host in plain sight, never anything but http(s). */
export function ForeignLink({ href, label }: { href: string; label: string }) {
  const url = URL.canParse(href) ? new URL(href) : null;
  if (!url || !/^https?:$/.test(url.protocol)) return <Untrusted text={href} className="font-mono" />;
  return (
    <span className="inline-flex flex-wrap items-baseline gap-x-2">
      <a className="text-accent underline" href={url.href} target="_blank" rel="noopener noreferrer nofollow">
        {label}
      </a>
      <span className="text-muted">
        goes to <strong className="font-mono font-semibold text-fg">{url.host}</strong>
      </span>
    </span>
  );
}
