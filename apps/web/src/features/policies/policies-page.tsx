/** The rules, in the order they win; a new one; and what they would say of a call. */
import type { Policy } from "@executor/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { executor, explain } from "../../api.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { EmptyState, ErrorState, Skeleton } from "../../ui/states.tsx";
import { TimeAgo } from "../../ui/time.tsx";
import { showToast } from "../../ui/toast.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";
import { useTitle } from "../shell/title.ts";
import { CallTest } from "./call-test.tsx";
import { NewRule } from "./new-rule.tsx";
import { afterChange, policiesQuery } from "./queries.ts";
import { DECISIONS, sayConditions } from "./rule-form.ts";

export function PoliciesPage() {
  useTitle("Policies");
  const query = useQuery(policiesQuery);
  const [isWriting, setWriting] = useState(false);
  const [deciding, setDeciding] = useState<string | null>(null);
  const add = (
    <Button kind="primary" icon="plus" onClick={() => setWriting(true)}>
      New rule
    </Button>
  );
  return (
    <div>
      <header className="flex flex-wrap items-center gap-3 border-b border-line px-4 py-3">
        <div className="flex-1 basis-64">
          <h1>Policies</h1>
          <p className="text-sm text-muted">
            Deny beats ask, ask beats allow. Where none fits, reads run and everything else asks.
          </p>
        </div>
        {add}
      </header>
      {query.isError && !query.data ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      ) : !query.data ? (
        <Skeleton lines={6} label="Loading policies" />
      ) : (
        <div className="mx-auto grid max-w-6xl gap-4 p-4 lg:grid-cols-[1fr_22rem]">
          {query.data.length === 0 ? (
            <EmptyState icon="shield" title="No rules yet">
              <p>
                A rule names tools by their path, and says whether their calls run, ask a person, or are refused.
                &ldquo;Always allow&rdquo; at an approval writes one, too.
              </p>
            </EmptyState>
          ) : (
            <Rules policies={query.data} deciding={deciding} />
          )}
          <CallTest onDecided={setDeciding} />
        </div>
      )}
      {isWriting && <NewRule onClose={() => setWriting(false)} />}
    </div>
  );
}

function Rules({ policies, deciding }: { policies: readonly Policy[]; deciding: string | null }) {
  return (
    <ol aria-label="Rules, in the order they win" className="flex flex-col gap-2">
      {policies.map((policy) => (
        <li
          key={policy.policyId}
          className={`panel flex items-start gap-3 p-3 ${policy.policyId === deciding ? "outline-2 outline-accent" : ""}`}
        >
          <Badge tone={DECISIONS[policy.decision].tone}>{DECISIONS[policy.decision].label}</Badge>
          <div className="min-w-0 flex-1">
            <Untrusted text={policy.toolPathPattern} className="font-mono font-semibold" />
            <p className="mt-0.5 flex flex-wrap gap-x-3 text-sm text-muted">
              <Who policy={policy} />
              {policy.conditions && policy.conditions.length > 0 && (
                <Untrusted text={sayConditions(policy.conditions)} />
              )}
              {policy.priority !== undefined && policy.priority !== 0 && <span>{`priority ${policy.priority}`}</span>}
              <TimeAgo at={policy.createdAt} />
            </p>
          </div>
          <RemoveRule policy={policy} />
        </li>
      ))}
    </ol>
  );
}

function Who({ policy: { actorId, clientId } }: { policy: Policy }) {
  if (actorId === undefined && clientId === undefined) return <span>for everyone</span>;
  return (
    <span className="min-w-0 break-all">
      for {actorId !== undefined && <span className="font-mono">{actorId}</span>}
      {actorId !== undefined && clientId !== undefined && " through "}
      {clientId !== undefined && <span className="font-mono">{clientId}</span>}
    </span>
  );
}

function RemoveRule({ policy }: { policy: Policy }) {
  const [isAsking, setAsking] = useState(false);
  const remove = useMutation({
    mutationFn: () => executor().policies.remove(policy.policyId),
    onSuccess: afterChange,
    onError: (error) => showToast({ text: explain(error), tone: "bad" }),
    onSettled: () => setAsking(false),
  });
  return (
    <>
      <IconButton
        icon="cross"
        label={`Remove the rule for ${policy.toolPathPattern}`}
        onClick={() => setAsking(true)}
      />
      {isAsking && (
        <Dialog open onClose={() => setAsking(false)} title="Remove the rule">
          <p className="mb-4">
            From the next call on, <Untrusted text={policy.toolPathPattern} className="font-mono" /> is decided by the
            rules that are left.
          </p>
          <div className="flex justify-end gap-2">
            <Button onClick={() => setAsking(false)}>Keep it</Button>
            <Button kind="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
              Remove
            </Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
