/** Giving a secret. What is typed is sent once, and gone from the page when it is kept or the dialog closes. */
import type { Source } from "@executor/client";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { executor, explain, keys, queryClient } from "../../api.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Select, TextField } from "../../ui/field.tsx";
import { showToast } from "../../ui/toast.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";
import { useMe } from "../shell/role.ts";
import { REFERENCES, secretFields } from "./secret-fields.ts";

type Provider = "managed" | "env" | "workos-vault";

export function GiveSecret({ source, onClose }: { source: Source; onClose: () => void }) {
  const isInstallationAdmin = useMe()?.installationAdmin === true;
  const [provider, setProvider] = useState<Provider>("managed");
  const [name, setName] = useState("");
  const [values, setValues] = useState<Record<string, string>>({});
  const reference = REFERENCES[provider];
  const fields = reference ? [reference] : secretFields(source.auth);
  const isWhole = fields.every((field) => (values[field.name] ?? "") !== "");
  const give = useMutation({
    mutationFn: () =>
      executor().credentials.set({
        sourceKey: source.namespace,
        scope: source.auth?.mode === "actor" ? "actor" : "workspace",
        ...(name.trim() !== "" && { name: name.trim() }),
        ...(provider !== "managed" && { provider }),
        secretJson: Object.fromEntries(fields.map((field) => [field.name, values[field.name] ?? ""])),
      }),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: keys.credentials });
      void queryClient.invalidateQueries({ queryKey: keys.sources });
      showToast({ text: "Kept. Tasks that waited for it go on." });
      onClose();
    },
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (isWhole) give.mutate();
  };
  return (
    <Dialog open onClose={onClose} title="Give a credential">
      <form onSubmit={send} className="flex flex-col gap-4" autoComplete="off" noValidate>
        <p>
          For <Untrusted text={source.name} className="font-semibold" />,{" "}
          {source.auth?.mode === "actor" ? "for yourself only." : "for everyone in this workspace."}
        </p>
        {isInstallationAdmin && (
          <Select
            label="Where it lies"
            value={provider}
            onChange={({ target }) => setProvider(target.value as Provider)}
          >
            <option value="managed">here, sealed</option>
            <option value="env">in the environment of the server</option>
            <option value="workos-vault">in WorkOS Vault</option>
          </Select>
        )}
        {fields.map((field) => (
          <TextField
            key={field.name}
            label={field.label}
            type={field.isSecret ? "password" : "text"}
            autoComplete="off"
            spellCheck={false}
            className="font-mono"
            value={values[field.name] ?? ""}
            onChange={({ target }) => setValues((old) => ({ ...old, [field.name]: target.value }))}
          />
        ))}
        <TextField
          label="Account"
          placeholder="default"
          hint="A name, where there are several. A call chooses one with $account."
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        {give.isError && (
          <p role="alert" className="text-bad">
            <Untrusted text={explain(give.error)} />
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Back</Button>
          <Button kind="primary" type="submit" disabled={!isWhole || give.isPending}>
            Keep it
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
