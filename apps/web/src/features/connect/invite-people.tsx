/** A link by which one more person joins this workspace, once. */
import type { Role } from "@executor/client";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { executor, explain } from "../../api.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/code-view.tsx";
import { Select } from "../../ui/field.tsx";
import { Countdown } from "../../ui/time.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";

export function InvitePeople() {
  const [role, setRole] = useState<Role>("reviewer");
  const invite = useMutation({ mutationFn: () => executor().invites.create({ role }) });
  return (
    <section aria-labelledby="invite" className="flex flex-col gap-3">
      <h2 id="invite">Invite a person</h2>
      <div className="flex flex-wrap items-end gap-3">
        <Select label="Their role" value={role} onChange={({ target }) => setRole(target.value as Role)}>
          <option value="reviewer">reviewer: decides approvals</option>
          <option value="admin">admin: everything in this workspace</option>
          <option value="agent">agent: only submits and reads tasks</option>
        </Select>
        <Button icon="person" disabled={invite.isPending} onClick={() => invite.mutate()}>
          Make a link
        </Button>
      </div>
      {invite.isError && (
        <p role="alert" className="text-bad">
          <Untrusted text={explain(invite.error)} />
        </p>
      )}
      {invite.data && (
        <div role="status" className="panel p-3">
          <p className="flex items-center gap-2">
            <code className="min-w-0 flex-1 font-mono text-sm break-all">{invite.data.url}</code>
            <CopyButton text={invite.data.url} label="Copy the link" />
          </p>
          <p className="mt-1 text-sm text-muted">
            {`Lets one person in as ${invite.data.role}, once. `}
            <Countdown to={invite.data.expiresAt} />
          </p>
        </div>
      )}
    </section>
  );
}
