/** One thing a task waits for: a credential, a sign-in, an answer. What is typed goes to the server once and is kept nowhere here. */
import { type Interaction, isExecutorError } from "@executor/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, Navigate, useParams } from "@tanstack/react-router";
import { executor, explain, keys, queryClient } from "../../api.ts";
import { Button } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { EmptyState, ErrorState, Skeleton } from "../../ui/states.tsx";
import { Countdown } from "../../ui/time.tsx";
import { showToast } from "../../ui/toast.tsx";
import { ForeignLink, LongText, Untrusted } from "../../ui/untrusted.tsx";
import { useTitle } from "../shell/title.ts";
import { AnswerForm } from "./answer-form.tsx";

const oneKey = (interactionId: string) => [...keys.interactions, interactionId];

export function InteractionPage() {
  useTitle("A task waits");
  const { interactionId } = useParams({ from: "/interactions/$interactionId" });
  const asked = useQuery({
    queryKey: oneKey(interactionId),
    queryFn: ({ signal }) => executor().interactions.get(interactionId, { signal }),
  });
  if (isExecutorError(asked.error, "interaction.not_found")) return <NotHere />;
  if (asked.isError && !asked.data) return <ErrorState error={asked.error} onRetry={() => void asked.refetch()} />;
  if (!asked.data) return <Skeleton label="Loading what is asked" />;
  if (asked.data.kind === "approval") return <Navigate to="/" search={{ selected: interactionId }} replace />;
  if (asked.data.status !== "pending") return <Settled interaction={asked.data} />;
  return <Asked interaction={asked.data} />;
}

/** Most often a link from an assistant that works in another workspace than this browser. */
function NotHere() {
  return (
    <>
      <h1 className="sr-only">A task waits</h1>
      <EmptyState icon="warning" title="There is nothing of that name in your workspace.">
        <p>
          If an assistant gave you this link, it works in another one: sign in there (Account, Sign out) with a key of
          that workspace. An assistant without a key works in the owner&apos;s: its token lies in the file{" "}
          <code className="font-mono">owner-key</code> of the data directory.
        </p>
      </EmptyState>
    </>
  );
}

function Settled({ interaction: { status, title, taskId } }: { interaction: Interaction }) {
  const isGiven = status === "resolved" || status === "approved";
  return (
    <EmptyState
      icon={isGiven ? "check" : "cross"}
      title={isGiven ? "Thank you. The task goes on." : `This is ${status}.`}
    >
      <Untrusted text={title} />
      {taskId !== undefined && (
        <Link to="/tasks/$taskId" params={{ taskId }} className="text-accent underline">
          To the task
        </Link>
      )}
    </EmptyState>
  );
}

const ADVICE: Partial<Record<Interaction["kind"], string>> = {
  credential: "It is kept sealed and never shown again. Neither the code nor the model sees it.",
  elicitation: "A source asks this, not Executor. Never give a password or a key here.",
  question: "The code of the task asks this. Never give a password or a key here.",
};

function Asked({ interaction }: { interaction: Interaction }) {
  const { interactionId, kind, title, detail, taskId, url, expiresAt } = interaction;
  const settle = useMutation({
    mutationFn: (answer: { value: unknown } | null) =>
      answer === null
        ? executor().interactions.decline(interactionId)
        : executor().interactions.answer(interactionId, answer.value),
    onSuccess: (settled) => queryClient.setQueryData(oneKey(interactionId), settled.interaction),
  });
  const advice = ADVICE[kind];
  const isForeignUrl = url !== undefined && !url.startsWith("/");
  return (
    <article className="mx-auto flex max-w-xl flex-col gap-4 p-4">
      <header>
        <h1>
          <Untrusted text={title} />
        </h1>
        <p className="mt-1 flex flex-wrap gap-x-4 text-sm text-muted">
          <Countdown to={expiresAt} />
          {taskId !== undefined && (
            <Link to="/tasks/$taskId" params={{ taskId }} className="text-accent underline">
              the task that waits
            </Link>
          )}
        </p>
      </header>
      {detail !== title && <LongText text={detail} />}
      {advice !== undefined && (
        <p className="flex gap-2 rounded-lg bg-accent-soft p-3 text-sm">
          <Icon name="shield" className="mt-0.5 size-4 text-accent" /> {advice}
        </p>
      )}
      {isForeignUrl && <ForeignLink href={url} label="Open the page of the source" />}
      <div className="panel p-4">
        {kind === "oauth" ? (
          <SignIn interaction={interaction} />
        ) : (
          <AnswerForm
            interaction={interaction}
            isBusy={settle.isPending}
            onAnswer={(value) => settle.mutate({ value })}
          />
        )}
        {settle.isError && (
          <p role="alert" className="mt-3 text-bad">
            <Untrusted text={explain(settle.error)} />
          </p>
        )}
      </div>
      <Button className="self-start" kind="quiet" disabled={settle.isPending} onClick={() => settle.mutate(null)}>
        Decline: the code is told that nobody will answer
      </Button>
    </article>
  );
}

function SignIn({ interaction: { interactionId, toolPath } }: { interaction: Interaction }) {
  const start = useMutation({
    mutationFn: () => executor().credentials.connect({ interactionId, sourceKey: toolPath?.split(".")[0] ?? "" }),
    onError: (error) => showToast({ text: explain(error), tone: "bad" }),
  });
  const url = start.data?.authorizationUrl;
  // The host first, the way there second: nobody signs in where he did not look.
  if (url !== undefined) return <ForeignLink href={url} label="Go to the provider" />;
  return (
    <Button kind="primary" icon="link" disabled={start.isPending} onClick={() => start.mutate()}>
      Sign in with the provider
    </Button>
  );
}
