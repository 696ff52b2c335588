/** Secrets by what they are for: kept, replaced, forgotten; sign-ins made and made again. A value goes in and never comes out. */
import type { Credential, Source } from "@executor/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { executor, explain, keys, queryClient } from "../../api.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { EmptyState, ErrorState, Skeleton } from "../../ui/states.tsx";
import { TimeAgo } from "../../ui/time.tsx";
import { showToast } from "../../ui/toast.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";
import { useTitle } from "../shell/title.ts";
import { sourcesQuery } from "../sources/queries.ts";
import { GiveSecret } from "./give-secret.tsx";
import { credentialsQuery } from "./queries.ts";
import { takesSecrets } from "./secret-fields.ts";
import { SignIn } from "./sign-in.tsx";

export function CredentialsPage() {
  useTitle("Credentials");
  const credentials = useQuery(credentialsQuery);
  const sources = useQuery(sourcesQuery);
  const [giving, setGiving] = useState<Source | null>(null);
  const [signingIn, setSigningIn] = useState<Source | null>(null);
  const failed = [credentials, sources].find((query) => query.isError && !query.data);
  return (
    <div>
      <header className="border-b border-line px-4 py-3">
        <h1>Credentials</h1>
        <p className="text-sm text-muted">
          Secrets of sources. They are sealed when they are kept, and neither code nor model ever sees one.
        </p>
      </header>
      {failed ? (
        <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />
      ) : !credentials.data || !sources.data ? (
        <Skeleton lines={6} label="Loading credentials" />
      ) : (
        <BySource credentials={credentials.data} sources={sources.data} onGive={setGiving} onSignIn={setSigningIn} />
      )}
      {giving && <GiveSecret source={giving} onClose={() => setGiving(null)} />}
      {signingIn && <SignIn source={signingIn} onClose={() => setSigningIn(null)} />}
    </div>
  );
}

interface BySourceProps {
  credentials: readonly Credential[];
  sources: readonly Source[];
  onGive: (source: Source) => void;
  onSignIn: (source: Source) => void;
}

function BySource({ credentials, sources, onGive, onSignIn }: BySourceProps) {
  const shown = sources.filter(
    (source) => takesSecrets(source) || credentials.some(({ sourceKey }) => sourceKey === source.namespace),
  );
  const known = new Set(sources.map(({ namespace }) => namespace));
  const left = credentials.filter(({ sourceKey }) => !known.has(sourceKey));
  if (shown.length === 0 && left.length === 0)
    return (
      <EmptyState icon="lock" title="No source needs a credential">
        <p>
          When one does, its secret is given here, or when a task first needs it: the task waits, a person fills it in,
          and the task goes on.
        </p>
        <Link to="/sources" className="text-accent underline">
          To the sources
        </Link>
      </EmptyState>
    );
  return (
    <div className="mx-auto flex max-w-4xl flex-col gap-4 p-4">
      {shown.map((source) => (
        <section key={source.sourceId} aria-label={source.name} className="panel">
          <header className="flex flex-wrap items-center gap-2 px-4 py-2.5">
            <h2 className="min-w-0 flex-1 text-base">
              <Untrusted text={source.name} />{" "}
              <span className="font-mono text-sm font-normal text-muted">{source.namespace}</span>
            </h2>
            <HowItSignsIn source={source} />
            {takesSecrets(source) &&
              (source.auth?.type === "oauth2" ? (
                <Button icon="link" onClick={() => onSignIn(source)}>
                  Connect …
                </Button>
              ) : (
                <Button icon="plus" onClick={() => onGive(source)}>
                  Give …
                </Button>
              ))}
          </header>
          <Rows
            credentials={credentials.filter(({ sourceKey }) => sourceKey === source.namespace)}
            onAgain={() => onSignIn(source)}
          />
        </section>
      ))}
      {left.length > 0 && (
        <section aria-label="Of sources that are gone" className="panel">
          <h2 className="px-4 py-2.5 text-base">Of sources that are gone</h2>
          <Rows credentials={left} />
        </section>
      )}
    </div>
  );
}

function HowItSignsIn({ source: { auth } }: { source: Source }) {
  if (!auth) return null;
  const whose =
    auth.mode === "static" ? "part of the source" : auth.mode === "actor" ? "everyone their own" : "one for all";
  return <Badge>{`${auth.type} · ${whose}`}</Badge>;
}

function Rows({ credentials, onAgain }: { credentials: readonly Credential[]; onAgain?: () => void }) {
  if (credentials.length === 0)
    return (
      <p className="border-t border-line px-4 py-3 text-sm text-muted">None yet. A task that needs one will ask.</p>
    );
  return (
    <ul className="divide-y divide-line border-t border-line">
      {credentials.map((credential) => (
        <Row key={credential.credentialId} credential={credential} onAgain={onAgain} />
      ))}
    </ul>
  );
}

function Row({ credential, onAgain }: { credential: Credential; onAgain: (() => void) | undefined }) {
  const { name, scope, actorId, provider, kind, status, updatedAt, expiresAt } = credential;
  const isDead = status === "expired";
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">
      <div className="min-w-0 flex-1 basis-64">
        <p className="flex flex-wrap items-center gap-2">
          <Untrusted text={name} className="font-medium" />
          {isDead ? (
            <Badge tone="bad">connect again</Badge>
          ) : (
            <Badge tone="ok">{kind === "oauth2" ? "connected" : "kept"}</Badge>
          )}
          {provider !== "managed" && <Badge>{provider === "env" ? "from the environment" : "WorkOS Vault"}</Badge>}
        </p>
        <p className="flex flex-wrap gap-x-3 text-xs text-muted">
          <span className="break-all">
            {scope === "workspace" ? "for everyone" : `only for ${actorId ?? "one actor"}`}
          </span>
          <span>
            given <TimeAgo at={updatedAt} />
          </span>
          {kind === "oauth2" && expiresAt !== undefined && !isDead && <span>renewed by itself</span>}
        </p>
      </div>
      {isDead && onAgain && (
        <Button kind="primary" icon="link" onClick={onAgain}>
          Connect again …
        </Button>
      )}
      <Forget credential={credential} />
    </li>
  );
}

function Forget({ credential: { credentialId, name, sourceKey } }: { credential: Credential }) {
  const [isAsking, setAsking] = useState(false);
  const remove = useMutation({
    mutationFn: () => executor().credentials.remove(credentialId),
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: keys.credentials }),
    onError: (error) => showToast({ text: explain(error), tone: "bad" }),
    onSettled: () => setAsking(false),
  });
  return (
    <>
      <IconButton icon="cross" label={`Forget ${name} of ${sourceKey}`} onClick={() => setAsking(true)} />
      {isAsking && (
        <Dialog open onClose={() => setAsking(false)} title="Forget the credential">
          <p className="mb-4">
            Nobody can bring <Untrusted text={name} className="font-semibold" /> back. Tasks that need it will ask for a
            new one.
          </p>
          <div className="flex justify-end gap-2">
            <Button onClick={() => setAsking(false)}>Keep it</Button>
            <Button kind="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
              Forget it
            </Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
