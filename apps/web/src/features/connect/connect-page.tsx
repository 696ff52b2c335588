/** Keys: one for each assistant, with its role; the set-up to paste; links by which people join. */
import type { ApiKey, CreatedKey } from "@executor/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { executor, explain, keys, queryClient } from "../../api.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorState, Skeleton } from "../../ui/states.tsx";
import { TimeAgo } from "../../ui/time.tsx";
import { showToast } from "../../ui/toast.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";
import { useTitle } from "../shell/title.ts";
import { InvitePeople } from "./invite-people.tsx";
import { NewKey } from "./new-key.tsx";
import { SetUps } from "./set-ups-view.tsx";

export function ConnectPage() {
  useTitle("Connect");
  const query = useQuery({
    queryKey: keys.keys,
    queryFn: async ({ signal }) => (await executor().keys.list({ signal })).items,
    staleTime: 0,
  });
  const [made, setMade] = useState<CreatedKey | null>(null);
  return (
    <div>
      <header className="border-b border-line px-4 py-3">
        <h1>Connect</h1>
        <p className="text-sm text-muted">
          An assistant gets a key of its own. With the role agent it submits tasks and reads them, and can never decide
          about its own calls.
        </p>
      </header>
      <div className="mx-auto flex max-w-4xl flex-col gap-6 p-4">
        <NewKey onMade={setMade} />
        <SetUps made={made} />
        <section aria-labelledby="keys" className="flex flex-col gap-2">
          <h2 id="keys">Keys</h2>
          {query.isError && !query.data ? (
            <ErrorState error={query.error} onRetry={() => void query.refetch()} />
          ) : !query.data ? (
            <Skeleton label="Loading keys" />
          ) : query.data.length === 0 ? (
            <p className="text-muted">None yet.</p>
          ) : (
            <ul className="panel divide-y divide-line">
              {query.data.map((key) => (
                <KeyRow key={key.keyId} apiKey={key} />
              ))}
            </ul>
          )}
        </section>
        <InvitePeople />
      </div>
    </div>
  );
}

function KeyRow({ apiKey }: { apiKey: ApiKey }) {
  const { label, role, actorId, createdAt, lastSeenAt, mayElicit } = apiKey;
  return (
    <li className="flex items-center gap-3 px-4 py-2.5">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-2">
          <Untrusted text={label} className="font-medium" />
          <Badge tone={role === "admin" ? "warn" : "neutral"}>{role}</Badge>
          {mayElicit && <Badge tone="accent">its person decides in the client</Badge>}
        </p>
        <p className="flex flex-wrap gap-x-3 text-xs text-muted">
          <span className="font-mono break-all">{actorId}</span>
          <span>
            made <TimeAgo at={createdAt} />
          </span>
          <span>
            {lastSeenAt === undefined ? (
              "never used"
            ) : (
              <>
                used <TimeAgo at={lastSeenAt} />
              </>
            )}
          </span>
        </p>
      </div>
      <Revoke apiKey={apiKey} />
    </li>
  );
}

function Revoke({ apiKey: { keyId, label } }: { apiKey: ApiKey }) {
  const [isAsking, setAsking] = useState(false);
  const revoke = useMutation({
    mutationFn: () => executor().keys.remove(keyId),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: keys.keys }),
    onError: (error) => showToast({ text: explain(error), tone: "bad" }),
    onSettled: () => setAsking(false),
  });
  return (
    <>
      <IconButton icon="cross" label={`Revoke ${label}`} onClick={() => setAsking(true)} />
      {isAsking && (
        <Dialog open onClose={() => setAsking(false)} title="Revoke the key">
          <p className="mb-4">
            <Untrusted text={label} className="font-semibold" /> stops working at once, and whatever it listens to ends.
            Its tasks go on.
          </p>
          <div className="flex justify-end gap-2">
            <Button onClick={() => setAsking(false)}>Keep it</Button>
            <Button kind="danger" disabled={revoke.isPending} onClick={() => revoke.mutate()}>
              Revoke
            </Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
