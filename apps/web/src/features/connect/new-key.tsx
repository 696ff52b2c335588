/** Making a key. What it may do is said beside each role; its token is shown once, by set-ups-view.tsx. */
import type { CreatedKey, Role } from "@executor/client";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { executor, explain, keys, queryClient } from "../../api.ts";
import { Button } from "../../ui/button.tsx";
import { Select, TextField } from "../../ui/field.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";

const ROLES: Record<Role, string> = {
  agent: "agent: submits and reads tasks",
  reviewer: "reviewer: also decides approvals",
  admin: "admin: everything in this workspace",
};

export function NewKey({ onMade }: { onMade: (key: CreatedKey) => void }) {
  const [label, setLabel] = useState("");
  const [role, setRole] = useState<Role>("agent");
  const [mayElicit, setMayElicit] = useState(false);
  const create = useMutation({
    mutationFn: () => executor().keys.create({ label: label.trim(), role, ...(mayElicit && { mayElicit }) }),
    onSuccess: (key) => {
      setLabel("");
      setMayElicit(false);
      void queryClient.invalidateQueries({ queryKey: keys.keys });
      onMade(key);
    },
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (label.trim() !== "") create.mutate();
  };
  return (
    <form onSubmit={send} className="panel flex flex-col gap-3 p-4" aria-label="New key">
      <div className="grid items-end gap-3 sm:grid-cols-[1fr_1fr_auto]">
        <TextField
          label="For"
          placeholder="my assistant"
          maxLength={100}
          value={label}
          onChange={({ target }) => setLabel(target.value)}
        />
        <Select label="Role" value={role} onChange={({ target }) => setRole(target.value as Role)}>
          {Object.entries(ROLES).map(([value, says]) => (
            <option key={value} value={value}>
              {says}
            </option>
          ))}
        </Select>
        <Button kind="primary" icon="plus" type="submit" disabled={create.isPending || label.trim() === ""}>
          Make a key
        </Button>
      </div>
      <label className="flex items-start gap-2 text-sm">
        <input
          type="checkbox"
          className="mt-0.5"
          checked={mayElicit}
          onChange={({ target }) => setMayElicit(target.checked)}
        />
        <span>
          Its person may decide approvals in the assistant&apos;s own dialog.{" "}
          <span className="text-muted">
            Only for an assistant that shows such a dialog to a person: whoever holds this key could answer in his
            place.
          </span>
        </span>
      </label>
      {create.isError && (
        <p role="alert" className="text-bad">
          <Untrusted text={explain(create.error)} />
        </p>
      )}
    </form>
  );
}
