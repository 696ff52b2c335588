/** The problems of the code in words, for those who do not see an underline or cannot hover over it. */
import { Icon } from "../../ui/icon.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";
import type { Problem } from "./problems.ts";

const SHOWN = 50;

export function ProblemList({ problems, onGo }: { problems: readonly Problem[]; onGo: (problem: Problem) => void }) {
  return (
    <section aria-label="Problems" className="max-h-40 shrink-0 overflow-y-auto border-t border-line empty:hidden">
      <p role="status" className="sr-only">
        {problems.length === 0 ? "" : problems.length === 1 ? "1 problem" : `${problems.length} problems`}
      </p>
      {problems.length > 0 && (
        <ul className="py-1 text-sm">
          {problems.slice(0, SHOWN).map((problem, at) => (
            <li key={at}>
              <button
                type="button"
                className="flex w-full items-baseline gap-2 px-4 py-1 text-left hover:bg-sunken"
                onClick={() => onGo(problem)}
              >
                <Icon name="warning" className="size-4 shrink-0 self-center text-bad" />
                <span className="shrink-0 text-muted">line {problem.line}</span>
                <span className="min-w-0">
                  <Untrusted text={problem.message} />
                  {problem.hint !== undefined && (
                    <span className="block text-muted">
                      <Untrusted text={problem.hint} />
                    </span>
                  )}
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
