/**
 * Decisions on their way: each waits a few seconds, in which it can be taken back, and is then sent. Sent is final.
 * What is held here is shown to nobody as waiting. Closing the page sends what is held: it was decided.
 */
import { type DecideOptions, isExecutorError } from "@executor/client";
import { executor, explain, keys, queryClient } from "../../api.ts";
import { onLeaving } from "../../session.ts";
import { createStore } from "../../store.ts";
import { showToast } from "../../ui/toast.tsx";
import { toPlainText } from "../../ui/visible.ts";

export interface Decision {
  approvals: readonly { approvalId: string; toolPath: string }[];
  verdict: "approved" | "denied";
  reason?: string;
  remember?: DecideOptions["remember"];
}

const UNDO_MS = 5_000;
const AT_ONCE = 4;

interface Held {
  decision: Decision;
  timer: ReturnType<typeof setTimeout>;
  dismiss: () => void;
}

const waiting: Held[] = [];
/** Approvals that are decided here and not yet known as such by the server. */
export const held = createStore<ReadonlySet<string>>(new Set());

export function decide(decision: Decision): void {
  hold(decision, true);
  const send = () => void flush(entry);
  const dismiss = showToast({
    text: describe(decision),
    forMs: null,
    actions: [
      { label: "Undo", run: () => undo(entry) },
      { label: "Send now", run: send },
    ],
  });
  const entry: Held = { decision, dismiss, timer: setTimeout(send, UNDO_MS) };
  waiting.push(entry);
}

/** The last one, or the one given. */
export function undo(entry: Held | undefined = waiting.at(-1)): void {
  if (!entry || !take(entry)) return;
  hold(entry.decision, false);
}

async function flush(entry: Held): Promise<void> {
  if (!take(entry)) return;
  const { approvals, verdict, reason, remember } = entry.decision;
  const rest = [...approvals];
  const options = { ...(reason !== undefined && { reason }), ...(remember !== undefined && { remember }) };
  const failures: unknown[] = [];
  const work = async () => {
    for (let next = rest.shift(); next; next = rest.shift()) {
      try {
        const send = verdict === "approved" ? executor().approvals.approve : executor().approvals.deny;
        await send(next.approvalId, options);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, approvals.length) }, work));
  // Read again rather than guessed: someone else may have been faster, and an error may hide a decision that arrived.
  await queryClient.invalidateQueries({ queryKey: keys.approvals });
  hold(entry.decision, false);
  report(failures, approvals.length);
}

function report(failures: readonly unknown[], count: number): void {
  const [first] = failures;
  if (first === undefined) return;
  const isLate = failures.every((error) => isExecutorError(error, "approval.already_decided"));
  const share = count > 1 ? `${failures.length} of ${count}: ` : "";
  showToast({
    text: `${share}${isLate ? `Too late. ${explain(first)}` : `Not sent. ${explain(first)}`}`,
    tone: "bad",
    forMs: 12_000,
  });
}

/** True for the one caller who may go on with it. */
function take(entry: Held): boolean {
  const at = waiting.indexOf(entry);
  if (at < 0) return false;
  waiting.splice(at, 1);
  clearTimeout(entry.timer);
  entry.dismiss();
  return true;
}

function hold({ approvals }: Decision, isHeld: boolean): void {
  const next = new Set(held.get());
  for (const { approvalId } of approvals) {
    if (isHeld) next.add(approvalId);
    else next.delete(approvalId);
  }
  held.set(next);
}

function describe({ approvals, verdict, remember }: Decision): string {
  const verb = verdict === "approved" ? "Approving" : "Denying";
  const [first] = approvals;
  const what = approvals.length === 1 && first ? toPlainText(first.toolPath, 60) : `${approvals.length} calls`;
  return `${verb} ${what}${remember === undefined ? "" : ", and always from now on"} …`;
}

const flushAll = (): Promise<unknown> => Promise.all(Array.from(waiting, flush));
addEventListener("pagehide", () => void flushAll());
onLeaving(flushAll);
