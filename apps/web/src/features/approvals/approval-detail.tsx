/** One approval: everything that is known about the call it is for, and the buttons. Nothing of the input is left out. */
import type { Approval } from "@executor/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Badge } from "../../ui/badge.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { CodeView } from "../../ui/code-view.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { Part } from "../../ui/part.tsx";
import { Countdown, TimeAgo } from "../../ui/time.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";
import { ValuePart } from "../../ui/value-view.tsx";
import { callsQuery, taskQuery } from "../tasks/queries.ts";
import { CallsSoFar } from "../tasks/calls-so-far.tsx";
import { findLines } from "./find-lines.ts";
import type { Actions } from "./inbox.tsx";

interface ApprovalDetailProps {
  approval: Approval;
  actions: Actions;
  onBack: () => void;
}

export function ApprovalDetail({ approval, actions, onBack }: ApprovalDetailProps) {
  return (
    <article className="flex min-h-full flex-col">
      <header className="flex items-start gap-2 px-4 pt-4">
        <IconButton icon="left" label="Back to the list" className="lg:hidden" onClick={onBack} />
        <div className="min-w-0 flex-1">
          <h2 className="font-mono text-xl">
            <Untrusted text={approval.toolPath} />
          </h2>
          <p className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
            <span>
              asked <TimeAgo at={approval.createdAt} />
            </span>
            <Countdown to={approval.expiresAt} />
          </p>
        </div>
      </header>
      <div className="flex flex-1 flex-col gap-4 p-4">
        {approval.mayHaveRun && <MayHaveRun />}
        <Facts approval={approval} />
        <ValuePart title="Input" value={approval.input} />
        <AroundTheCall approval={approval} />
        <SoFar approval={approval} />
      </div>
      <DecisionBar actions={actions} approveLabel={approval.mayHaveRun ? "Send it again" : "Approve"} />
    </article>
  );
}

/** The words matter: approving means a second time, perhaps. */
function MayHaveRun() {
  return (
    <div role="note" className="flex gap-3 rounded-lg bg-bad-soft p-3 text-bad">
      <Icon name="warning" className="mt-0.5 size-5" />
      <div>
        <p className="font-semibold">This call may already have happened.</p>
        <p>
          It was sent, and a crash kept its answer from arriving. Look at the other side first. Approving sends it
          again; denying tells the code that the outcome is unknown.
        </p>
      </div>
    </div>
  );
}

function Facts({ approval: { toolPath, why, task, taskId } }: { approval: Approval }) {
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5 text-sm">
      <Fact name="Source">
        <Untrusted text={toolPath.split(".")[0] ?? ""} className="font-mono" />
      </Fact>
      <Fact name="Why it asks">
        <Untrusted text={why} />
      </Fact>
      {task && (
        <Fact name="Actor">
          <Untrusted text={task.actorId} className="font-mono" />
        </Fact>
      )}
      <Fact name="Task">
        <Link to="/tasks/$taskId" params={{ taskId }} className="font-mono break-all text-accent underline">
          {taskId}
        </Link>
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}

/** The line that the code's own stack told; without one, every line that may be meant, and it says so. */
function AroundTheCall({ approval: { taskId, toolPath, line } }: { approval: Approval }) {
  const task = useQuery(taskQuery(taskId));
  if (!task.data) return null;
  const { code } = task.data;
  const lines = line === undefined ? findLines(code, toolPath) : [line];
  const isSure = lines.length === 1;
  return (
    <Part title="Code around the call" aside={lines.length > 0 && <Badge>{tellLines(lines)}</Badge>}>
      <div className="p-3">
        <CodeView
          code={code}
          label="Code of the task"
          markedLines={lines}
          around={6}
          markMeans={isSure ? "this call" : "perhaps this call"}
        />
      </div>
    </Part>
  );
}

function tellLines(lines: readonly number[]): string {
  if (lines.length === 1) return `line ${lines[0]}`;
  return lines.length > 4 ? `one of ${lines.length} lines` : `one of lines ${lines.join(", ")}`;
}

function SoFar({ approval: { taskId, callId } }: { approval: Approval }) {
  const calls = useQuery(callsQuery(taskId));
  const before = (calls.data ?? []).filter((call) => call.callId !== callId);
  return (
    <Part
      title="What the task did so far"
      aside={<Badge>{before.length === 1 ? "1 call" : `${before.length} calls`}</Badge>}
    >
      <CallsSoFar calls={before} />
    </Part>
  );
}

/** Always in sight, so that nobody decides about what he has not scrolled past because the button was there. */
export function DecisionBar({
  actions,
  approveLabel,
  onApprove = actions.approve,
}: {
  actions: Actions;
  approveLabel: string;
  onApprove?: () => void;
}) {
  if (!actions.mayDecide)
    return (
      <p className="sticky bottom-0 border-t border-line bg-surface p-3 text-muted">
        Deciding needs the role reviewer or admin.
      </p>
    );
  return (
    <div
      role="group"
      aria-label="Decide"
      className="sticky bottom-0 flex flex-wrap items-center gap-2 border-t border-line bg-surface p-3"
    >
      <Button kind="ok" icon="check" onClick={onApprove}>
        {approveLabel}
      </Button>
      <Button kind="plain" icon="cross" onClick={actions.deny}>
        Deny …
      </Button>
      {actions.always && <Button onClick={actions.always}>Always allow …</Button>}
      <span className="ml-auto hidden items-center gap-1 text-xs text-muted xl:flex">
        <Kbd>a</Kbd> approve <Kbd>d</Kbd> deny <Kbd>j</Kbd> <Kbd>k</Kbd> move
      </span>
    </div>
  );
}
