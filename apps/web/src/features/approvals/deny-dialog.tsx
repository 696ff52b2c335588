/** Denying, with a reason if there is one: the code gets it with the error, and the audit keeps it. */
import type { Approval } from "@executor/client";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { TextArea } from "../../ui/field.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";
import { decide } from "./outbox.ts";

const MAX_REASON = 2_000;

export function DenyDialog({ approvals, onClose }: { approvals: readonly Approval[]; onClose: () => void }) {
  const [reason, setReason] = useState("");
  const [first] = approvals;
  const deny = () => {
    decide({ approvals, verdict: "denied", ...(reason.trim() !== "" && { reason: reason.trim() }) });
    onClose();
  };
  return (
    <Dialog open onClose={onClose} title={approvals.length > 1 ? `Deny ${approvals.length} calls` : "Deny this call"}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          deny();
        }}
      >
        <Untrusted text={first?.toolPath ?? ""} className="font-mono text-sm" />
        <TextArea
          label="Reason (the code and its author see it)"
          autoFocus
          maxLength={MAX_REASON}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            deny();
          }}
        />
        <div className="flex items-center justify-end gap-2">
          <span className="mr-auto hidden gap-1 text-xs text-muted sm:flex">
            <Kbd>Ctrl</Kbd> <Kbd>Enter</Kbd>
          </span>
          <Button onClick={onClose}>Back</Button>
          <Button kind="danger" type="submit" icon="cross">
            Deny
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
