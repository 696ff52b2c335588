/** The inbox: what waits for a person, oldest first; the one selected beside it. Works by keys alone. */
import type { Approval } from "@executor/client";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { useHotkeys } from "../../hotkeys.ts";
import { session } from "../../session.ts";
import { useStore } from "../../store.ts";
import { useTitle } from "../shell/title.ts";
import { ErrorState, Skeleton } from "../../ui/states.tsx";
import { AlwaysAllow } from "./always-allow.tsx";
import { DenyDialog } from "./deny-dialog.tsx";
import { EmptyInbox } from "./empty-inbox.tsx";
import { groupApprovals, isGroup, type Row } from "./group.ts";
import { GroupDetail } from "./group-detail.tsx";
import { InboxList } from "./inbox-list.tsx";
import { NeedsAttention } from "./needs-attention.tsx";
import { decide, held, undo } from "./outbox.ts";
import { ApprovalDetail } from "./approval-detail.tsx";
import { canRemember } from "./propose-policy.ts";
import { approvalsQuery, MAX_SHOWN, othersQuery } from "./queries.ts";

export interface Actions {
  approve: () => void;
  deny: () => void;
  /** Null where it cannot be offered. */
  always: (() => void) | null;
  /** Null for those who may only look. */
  mayDecide: boolean;
}

export function Inbox() {
  useTitle("Approvals");
  const approvals = useQuery(approvalsQuery);
  const others = useQuery(othersQuery);
  const isHeld = useStore(held);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const pending = useMemo(
    () => (approvals.data ?? []).filter(({ approvalId }) => !isHeld.has(approvalId)),
    [approvals.data, isHeld],
  );
  const rows = useMemo(() => groupApprovals(pending, opened), [pending, opened]);
  const toggle = useCallback(
    (key: string) =>
      setOpened((old) => new Set(old.has(key) ? [...old].filter((each) => each !== key) : [...old, key])),
    [],
  );
  const { current, isChosen, select, move } = useSelection(rows);
  const { actions, dialog } = useActions(current);
  useHotkeys({ j: () => move(1), k: () => move(-1), u: () => undo() });

  if (approvals.isError && !approvals.data)
    return <ErrorState error={approvals.error} onRetry={() => void approvals.refetch()} />;
  if (!approvals.data) return <Skeleton lines={6} label="Loading approvals" />;
  return (
    <div className="flex h-full flex-col">
      <p className="sr-only" role="status">
        {pending.length === 0 ? "No approvals wait." : `${pending.length} approvals wait.`}
      </p>
      <div className={`grid min-h-0 flex-1 ${rows.length === 0 ? "" : "lg:grid-cols-[21rem_1fr]"}`}>
        <section
          aria-label="Waiting for you"
          className={`min-h-0 overflow-auto ${rows.length === 0 ? "" : "border-line lg:border-r"} ${isChosen ? "max-lg:hidden" : ""}`}
        >
          <h1 className="px-4 pt-4 pb-2">Approvals</h1>
          <NeedsAttention interactions={others.data ?? []} />
          {rows.length === 0 ? (
            <EmptyInbox isAllQuiet={(others.data ?? []).length === 0} />
          ) : (
            <InboxList rows={rows} current={current} opened={opened} onToggle={toggle} onSelect={select} />
          )}
          {approvals.data.length >= MAX_SHOWN && (
            <p className="px-4 pb-4 text-sm text-muted">
              The oldest {MAX_SHOWN.toLocaleString("en")} are shown. More come up as these are decided.
            </p>
          )}
        </section>
        {current && (
          <section aria-label="Selected" className={`min-h-0 overflow-auto ${isChosen ? "" : "max-lg:hidden"}`}>
            <Selected row={current} actions={actions} onBack={() => select(null)} />
          </section>
        )}
      </div>
      {dialog}
    </div>
  );
}

function Selected({ row, actions, onBack }: { row: Row; actions: Actions; onBack: () => void }) {
  if (isGroup(row)) return <GroupDetail key={row.key} approvals={row.approvals} actions={actions} onBack={onBack} />;
  const [approval] = row.approvals;
  return <ApprovalDetail key={row.key} approval={approval} actions={actions} onBack={onBack} />;
}

/** The selection lives in the address, so that reload and back keep it. What was decided hands it on to its neighbour. */
function useSelection(rows: readonly Row[]) {
  const { selected } = useSearch({ from: "/" });
  const navigate = useNavigate({ from: "/" });
  const router = useRouter();
  const [lastAt, setLastAt] = useState(0);
  const at = rows.findIndex(({ key }) => key === selected);
  if (at >= 0 && at !== lastAt) setLastAt(at);
  const current = rows[at >= 0 ? at : Math.min(lastAt, rows.length - 1)] ?? null;
  const select = useCallback(
    (key: string | null) =>
      void navigate({
        search: key === null ? {} : { selected: key },
        // On a phone the way back from the first one opened leads to the list.
        replace: key !== null && "selected" in router.state.location.search,
      }),
    [navigate, router],
  );
  const move = (step: number) => {
    const from = rows.findIndex(({ key }) => key === current?.key);
    const next = rows[Math.max(0, Math.min(rows.length - 1, from + (selected === undefined && step > 0 ? 0 : step)))];
    if (!next) return;
    select(next.key);
    document.getElementById(`row-${next.key}`)?.focus();
  };
  return { current, isChosen: selected !== undefined && at >= 0, select, move };
}

function useActions(current: Row | null) {
  const [open, setOpen] = useState<{ kind: "deny" | "always"; approvals: readonly Approval[] } | null>(null);
  const state = useStore(session);
  const role = state.kind === "ready" ? state.me.role : "agent";
  const approvals = current?.approvals ?? [];
  const [first] = approvals;
  const mayDecide = role !== "agent" && first !== undefined;
  const isSingle = approvals.length === 1 && first !== undefined && !first.mayHaveRun && canRemember(first);
  const approve = () => mayDecide && decide({ approvals, verdict: "approved" });
  const deny = () => mayDecide && setOpen({ kind: "deny", approvals });
  const always = mayDecide && role === "admin" && isSingle ? () => setOpen({ kind: "always", approvals }) : null;
  // A group is decided by its own button only, in sight of all its inputs: one key must not approve a hundred calls.
  useHotkeys({
    a: () => approvals.length === 1 && approve(),
    d: () => deny(),
    w: () => always?.(),
  });
  const close = () => setOpen(null);
  const [asked] = open?.approvals ?? [];
  const dialog =
    open?.kind === "deny" ? (
      <DenyDialog approvals={open.approvals} onClose={close} />
    ) : open?.kind === "always" && asked ? (
      <AlwaysAllow approval={asked} onClose={close} />
    ) : null;
  return { actions: { approve, deny, always, mayDecide }, dialog };
}
