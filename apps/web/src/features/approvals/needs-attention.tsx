/** What else waits for a person: a credential, a sign-in, a question. Each has a page of its own. */
import type { Interaction, InteractionKind } from "@executor/client";
import { Link } from "@tanstack/react-router";
import { Icon, type IconName } from "../../ui/icon.tsx";
import { TimeAgo } from "../../ui/time.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";

const KINDS: Record<InteractionKind, { icon: IconName; what: string }> = {
  approval: { icon: "inbox", what: "Approval" },
  credential: { icon: "lock", what: "A credential is missing" },
  oauth: { icon: "link", what: "A sign-in is needed" },
  elicitation: { icon: "question", what: "A source asks" },
  question: { icon: "question", what: "The code asks" },
};

export function NeedsAttention({ interactions }: { interactions: readonly Interaction[] }) {
  if (interactions.length === 0) return null;
  return (
    <section
      aria-labelledby="needs-attention"
      className="mx-3 mb-3 overflow-hidden rounded-lg border border-line bg-surface"
    >
      <h2 id="needs-attention" className="bg-warn-soft px-3 py-1.5 text-sm text-warn">
        Needs attention
      </h2>
      <ul>
        {interactions.map(({ interactionId, kind, title, createdAt }) => (
          <li key={interactionId} className="border-t border-line first:border-t-0">
            <Link
              to="/interactions/$interactionId"
              params={{ interactionId }}
              className="flex items-center gap-2.5 px-3 py-2 -outline-offset-2 hover:bg-sunken"
            >
              <Icon name={KINDS[kind].icon} className="size-4 text-warn" />
              <span className="min-w-0 flex-1">
                <span className="block text-xs text-muted">{KINDS[kind].what}</span>
                <Untrusted text={title.slice(0, 300)} className="line-clamp-2" />
              </span>
              <span className="text-xs text-muted">
                <TimeAgo at={createdAt} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
