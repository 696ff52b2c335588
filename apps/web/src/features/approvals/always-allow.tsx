/** "Always allow …": the rule that would be written, in words, before it is. */
import type { Approval } from "@executor/client";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";
import { decide } from "./outbox.ts";
import { proposeConditions, toConditions } from "./propose-policy.ts";

export function AlwaysAllow({ approval, onClose }: { approval: Approval; onClose: () => void }) {
  const proposed = proposeConditions(approval);
  const [dropped, setDropped] = useState<ReadonlySet<string>>(new Set());
  const [isForAll, setForAll] = useState(false);
  const kept = proposed.filter(({ path }) => !dropped.has(path));
  const actorId = approval.task?.actorId;
  const allow = () => {
    const conditions = toConditions(kept);
    const remember = {
      toolPathPattern: approval.toolPath,
      ...(!isForAll && actorId !== undefined && { actorId }),
      ...(conditions.length > 0 && { conditions }),
    };
    decide({ approvals: [approval], verdict: "approved", remember });
    onClose();
  };
  const drop = (path: string, isKept: boolean) =>
    setDropped((old) => new Set(isKept ? [...old].filter((each) => each !== path) : [...old, path]));
  return (
    <Dialog open onClose={onClose} title="Always allow" wide>
      <div className="flex flex-col gap-4">
        <p className="rounded-lg bg-accent-soft p-3">
          From now on, calls of <Untrusted text={approval.toolPath} className="font-mono font-semibold" />{" "}
          {isForAll ? <strong>by anyone in this workspace</strong> : "by the actor of this task"}
          {kept.length === 0 ? (
            <strong> with any input</strong>
          ) : (
            " with exactly these values (whatever else is in the input)"
          )}{" "}
          run without asking. A rule that denies still wins. It can be removed under the workspace&apos;s policies at
          any time.
        </p>
        {proposed.length > 0 && (
          <fieldset className="flex flex-col gap-2">
            <legend className="mb-1 font-medium">Only when the input has</legend>
            {proposed.map(({ path, value }) => (
              <label key={path} className="flex items-start gap-2 font-mono text-sm">
                <input
                  type="checkbox"
                  className="mt-1"
                  checked={!dropped.has(path)}
                  onChange={(event) => drop(path, event.target.checked)}
                />
                <span className="min-w-0">
                  <Untrusted text={path} /> = <Untrusted text={JSON.stringify(value)} />
                </span>
              </label>
            ))}
          </fieldset>
        )}
        <label className="flex items-center gap-2">
          <input type="checkbox" checked={isForAll} onChange={(event) => setForAll(event.target.checked)} />
          For everyone in this workspace, not only this actor
        </label>
        {kept.length === 0 && (
          <p className="flex gap-2 text-sm text-warn">
            <Icon name="warning" className="mt-0.5 size-4" />
            This allows the tool whatever it is given.
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Back</Button>
          <Button kind="primary" icon="check" onClick={allow}>
            Approve, and allow from now on
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
