/** Many alike approvals at once: every input is listed, and one button decides all of those that are listed, and no others. */
import type { Approval } from "@executor/client";
import { useState } from "react";
import { Badge } from "../../ui/badge.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Countdown } from "../../ui/time.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";
import { ValuePart } from "../../ui/value-view.tsx";
import { DecisionBar } from "./approval-detail.tsx";
import { decide } from "./outbox.ts";
import type { Actions } from "./inbox.tsx";

interface GroupDetailProps {
  approvals: readonly [Approval, ...Approval[]];
  actions: Actions;
  onBack: () => void;
}

const STEP = 25;

export function GroupDetail({ approvals, actions, onBack }: GroupDetailProps) {
  const [first] = approvals;
  const [shown, setShown] = useState(STEP);
  /** The ones the person was asked about: what arrives while the question stands is not among them. */
  const [asked, setAsked] = useState<readonly Approval[] | null>(null);
  const tasks = new Set(approvals.map(({ taskId }) => taskId)).size;
  const approveAll = () => {
    if (asked) decide({ approvals: asked, verdict: "approved" });
    setAsked(null);
  };
  return (
    <article className="flex min-h-full flex-col">
      <header className="flex items-start gap-2 px-4 pt-4">
        <IconButton icon="left" label="Back to the list" className="lg:hidden" onClick={onBack} />
        <div className="min-w-0 flex-1">
          <h2 className="font-mono text-xl">
            <Untrusted text={first.toolPath} />
          </h2>
          <p className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
            <Badge tone="accent">{approvals.length} calls</Badge>
            <span>
              of {tasks} {tasks === 1 ? "task" : "tasks"}, by one actor
            </span>
            <Countdown to={first.expiresAt} />
          </p>
          <p className="mt-2 text-sm text-muted">
            <Untrusted text={first.why} />
          </p>
        </div>
      </header>
      <div className="flex flex-1 flex-col gap-3 p-4">
        {approvals.slice(0, shown).map((approval, at) => (
          <ValuePart
            key={approval.approvalId}
            title={`Input ${at + 1} of ${approvals.length}`}
            value={approval.input}
          />
        ))}
        {approvals.length > shown && (
          <Button onClick={() => setShown(shown + STEP)}>Show more of {approvals.length} inputs</Button>
        )}
      </div>
      <DecisionBar
        actions={{ ...actions, always: null }}
        approveLabel={`Approve all ${approvals.length} …`}
        onApprove={() => setAsked(approvals)}
      />
      <Dialog open={asked !== null} onClose={() => setAsked(null)} title={`Approve ${asked?.length ?? 0} calls?`}>
        <p>
          All {asked?.length ?? 0} calls of <Untrusted text={first.toolPath} className="font-mono font-semibold" /> that
          wait now will be made, each with its own input. Calls that come later ask again.
        </p>
        <div className="mt-4 flex justify-end gap-2">
          <Button onClick={() => setAsked(null)}>Back</Button>
          <Button kind="ok" icon="check" autoFocus onClick={approveAll}>
            Approve {asked?.length ?? 0} calls
          </Button>
        </div>
      </Dialog>
    </article>
  );
}
