/** Connecting an account with its provider: where it leads is shown before anyone goes there. */
import type { Source } from "@executor/client";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { executor, explain } from "../../api.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { ForeignLink, Untrusted } from "../../ui/untrusted.tsx";

export function SignIn({ source, onClose }: { source: Source; onClose: () => void }) {
  const [name, setName] = useState("");
  const start = useMutation({
    mutationFn: () =>
      executor().credentials.connect({ sourceKey: source.namespace, ...(name.trim() !== "" && { name: name.trim() }) }),
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    start.mutate();
  };
  return (
    <Dialog open onClose={onClose} title="Connect an account">
      {start.data ? (
        <div className="flex flex-col gap-4">
          <p>Sign in there and allow it; then come back. The list below shows the account when it is connected.</p>
          <ForeignLink href={start.data.authorizationUrl} label="Go to the provider" />
          <div className="flex justify-end">
            <Button onClick={onClose}>Done</Button>
          </div>
        </div>
      ) : (
        <form onSubmit={send} className="flex flex-col gap-4" noValidate>
          <p>
            For <Untrusted text={source.name} className="font-semibold" />,{" "}
            {source.auth?.mode === "actor" ? "for yourself only." : "for everyone in this workspace."}
          </p>
          <TextField
            label="Account"
            placeholder="default"
            hint="A name, where there are several."
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
          {start.isError && (
            <p role="alert" className="text-bad">
              <Untrusted text={explain(start.error)} />
            </p>
          )}
          <div className="flex justify-end gap-2">
            <Button onClick={onClose}>Back</Button>
            <Button kind="primary" type="submit" disabled={start.isPending}>
              {start.isPending ? "Asking the provider …" : "Go on"}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
