/**
 * Where the calls of one run are dealt with: held while the journal is replayed, then put to the gate, and performed,
 * refused, or left for a person. It knows what is under way and whom the task waits for; it never talks to the guest.
 */
import type { ErrorCode } from "@executor/contracts/error";
import type { Limits } from "@executor/contracts/limits";
import { evaluateCall } from "../policy/evaluate-call.ts";
import type { PolicyVerdict } from "../policy/evaluate-policy.ts";
import type { Host } from "../ports/host.ts";
import type { ToolCatalog } from "../ports/tools.ts";
import type { NewInteraction } from "../store/progress.ts";
import type { InteractionRow, PolicyRow, TaskRow } from "../store/tables.ts";
import { nearestVisible } from "../tools/describe-tools.ts";
import { findTool } from "../tools/tool-segment.ts";
import type { Answered, Ask, OpenCall, Tool, ToolCall, ToolOutcome } from "../tools/tool.ts";
import type { CodeLines } from "./code-lines.ts";
import { denialCodes, gateCall } from "./gate-call.ts";
import type { Journal, JournalCall } from "./journal.ts";
import { goOnWithCall, isRepeatable, type Performed, performCall } from "./perform-call.ts";

export interface HeldCall {
  call: JournalCall;
  input: unknown;
  inputJson: string;
  /** Of the script. */
  line?: number;
}

export interface CallDeskDeps {
  task: TaskRow;
  journal: Journal;
  catalog: ToolCatalog;
  limits: Limits;
  host: Host;
  /** Read anew for every batch of calls: a rule that was just written counts for the next call. */
  readPolicies(): Promise<readonly PolicyRow[]>;
  /** What was asked in this task so far; the desk adds what it asks. */
  interactions: InteractionRow[];
  lines: CodeLines;
  runMs(): number;
  /** Something ended or can be delivered. */
  onMove(): void;
  onFailure(error: unknown): void;
  /** A call whose outcome came after the run was over. */
  onLate(call: JournalCall, outcome: ToolOutcome): void;
  signal: AbortSignal;
  /** The run must end: no call may begin any more, though those under way may finish. */
  isStopped(): boolean;
}

export class CallDesk {
  readonly #deps: CallDeskDeps;
  #held: HeldCall[] = [];
  /** Calls that may go, for which there is no room yet; they are put to the gate again when there is. */
  readonly #queued: HeldCall[] = [];
  readonly #underWay = new Set<Promise<void>>();
  readonly #waitingFor = new Set<string>();
  /** Calls that wait in the middle for a person's answer. */
  readonly #open = new Map<string, OpenCall>();
  #guestIsOver = false;
  #lastAskedAt = 0;

  constructor(deps: CallDeskDeps) {
    this.#deps = deps;
  }

  hold(call: HeldCall): void {
    this.#held.push(call);
  }

  /** Refuses a call that needs no gate to be refused. */
  refuse(call: JournalCall, code: ErrorCode, message: string): void {
    if (call.state !== "done") this.#finishCall(call, { ok: false, code, message }, code, false);
  }

  /** A new session of the same run: its guest makes its calls again. */
  forget(): void {
    this.#held = [];
    this.#waitingFor.clear();
  }

  get isBusy(): boolean {
    return this.#underWay.size > 0 || this.#queued.length > 0;
  }

  get waitingFor(): string[] {
    return [...this.#waitingFor];
  }

  /** Puts what is held to the gate. Calls that may go are under way when it returns. */
  async gateHeld(): Promise<void> {
    if (this.#held.length === 0) return;
    const held = this.#held;
    this.#held = [];
    const policies = await this.#deps.readPolicies().catch(() => null);
    for (const each of held) {
      const perform = this.#gate(each, policies);
      if (perform && this.#underWay.size < this.#deps.limits.parallelCalls) this.#track(perform());
      else if (perform) this.#queued.push(each);
    }
  }

  /** The code is over: what it started and did not await is finished, what would have to ask is not asked. */
  async finish({ startHeld }: { startHeld: boolean }): Promise<void> {
    this.#guestIsOver = true;
    // Nobody sees what comes of them any more; the other side need not wait for an answer.
    for (const open of this.#open.values()) void open.giveUp();
    if (startHeld) await this.gateHeld();
    await this.settle();
  }

  /** Resolves when nothing is under way any more. */
  async settle(): Promise<void> {
    while (this.isBusy) await Promise.all(this.#underWay);
  }

  /** Refuses it, leaves it for a person, or answers with how to perform it. */
  #gate(held: HeldCall, policies: readonly PolicyRow[] | null): (() => Promise<void>) | null {
    const { task, limits, interactions, catalog } = this.#deps;
    const { call } = held;
    const tool = findTool(catalog, call.toolPath);
    const asked = this.#askedLast(call);
    const open = asked && call.state !== "done" ? (tool?.openCall?.(call.callId) ?? null) : null;
    const approvals = interactions.filter((each) => each.kind === "approval");
    const decision = gateCall({
      toolPath: call.toolPath,
      inputDigest: call.inputDigest,
      journal: open ? "open" : call.state,
      asked,
      tool: tool && { schemaHash: tool.schemaHash, repeatable: isRepeatable(tool) },
      nearest: tool ? [] : nearestVisible({ catalog, policies: policies ?? [], caller: task }, call.toolPath),
      verdict: tool && policies ? evaluateCall(policies, tool, task, held.input) : closed,
      approvals: approvals.filter((each) => each.callId === call.callId),
      deniedTwin:
        approvals.find(
          (each) =>
            each.status === "denied" &&
            each.mayHaveRun === 0 &&
            each.toolPath === call.toolPath &&
            each.inputDigest === call.inputDigest,
        ) ?? null,
      pendingApprovals: approvals.filter((each) => each.status === "pending").length,
      maxPendingApprovals: limits.pendingApprovals,
    });
    switch (decision.kind) {
      case "replay":
        return null;
      case "refuse": {
        void open?.giveUp();
        const code = !policies && decision.code === "policy.denied" ? "policy.unavailable" : decision.code;
        this.#finishCall(call, { ok: false, code, message: decision.message }, decision.why, false);
        return null;
      }
      case "pause":
        if (!this.#guestIsOver)
          this.#waitingFor.add(decision.approvalId ?? this.#askApproval(held, tool as Tool, decision));
        return null;
      case "execute":
        return () => this.#perform(held, tool as Tool, open, decision);
    }
  }

  /** In the place of a call that ended. The world may have changed while it waited, so it is gated again. */
  async #performQueued(): Promise<void> {
    const next = this.#queued.shift();
    if (!next) return;
    await this.#gateAgain(next);
  }

  async #gateAgain(held: HeldCall): Promise<void> {
    const policies = await this.#deps.readPolicies().catch(() => null);
    if (!this.#deps.isStopped()) await this.#gate(held, policies)?.();
  }

  #track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => this.#deps.onFailure(error))
      .finally(() => {
        this.#underWay.delete(tracked);
        // What has not begun stays in the journal for the next run.
        if (this.#deps.isStopped()) this.#queued.length = 0;
        else if (this.#queued.length > 0) this.#track(this.#performQueued());
        this.#deps.onMove();
      });
    this.#underWay.add(tracked);
  }

  async #perform(
    held: HeldCall,
    tool: Tool,
    open: OpenCall | null,
    { approvalId, why }: { approvalId: string | null; why: string },
  ): Promise<void> {
    const { journal, limits } = this.#deps;
    const { call } = held;
    const deps = { journal, maxResultBytes: limits.callResultBytes };
    const asked = this.#askedLast(call);
    if (open && asked) {
      if (asked.status === "pending") return await this.#wait(call, open, asked.interactionId, why);
      this.#open.delete(call.callId);
      const performed = await goOnWithCall(deps, call, tool, open, this.#requestOf(held, asked));
      if (performed) return this.#take(held, tool, performed, { approvalId, why, asked });
      // It was sent, and ended without the answer. What may be sent twice is; for the rest a person is asked.
      call.state = "sent";
      return await this.#gateAgain(held);
    }
    if (asked && asked.status !== "resolved") return this.#waitOrRefuse(call, asked);
    const performed = await performCall(deps, call, tool, this.#requestOf(held, null), approvalId);
    await this.#take(held, tool, performed, { approvalId, why, asked: null });
  }

  /** `asked`: what was answered, or not, in the middle of it. */
  async #take(
    { call, ...held }: HeldCall,
    tool: Tool,
    performed: Performed,
    { approvalId, why, asked }: { approvalId: string | null; why: string; asked: InteractionRow | null },
  ): Promise<void> {
    if (performed.kind === "outcome") {
      const { outcome } = performed;
      // The other side heard that nobody answers, and ended the call with an error: that it was a person is what counts.
      if (asked && asked.status !== "resolved" && !outcome.ok) return this.#waitOrRefuse(call, asked);
      return this.#finishCall(call, outcome, why, !isRepeatable(tool));
    }
    const open = performed.at === "open" ? (tool.openCall?.(call.callId) ?? null) : null;
    if (!this.#guestIsOver) {
      // What may be sent twice need not count as sent: without the open call it is simply sent again.
      const isUndone = performed.at === "put-off" || (performed.at === "open" && isRepeatable(tool));
      if (performed.at === "open" && !isUndone) call.state = "sent";
      const putOff = isUndone ? { approvalId } : null;
      await this.#wait(call, open, this.#ask({ call, ...held }, tool, performed.ask, why, putOff), why);
    } else if (open) await this.#wait(call, open, "", why);
    else if (performed.at !== "unsent") this.#finishCall(call, nobodyToAsk(tool.path), why, true);
  }

  /** For the answer to a question in the middle of a call; when the code is over nobody is asked, and the call ends. */
  async #wait(call: JournalCall, open: OpenCall | null, interactionId: string, why: string): Promise<void> {
    if (open && this.#guestIsOver) return this.#finishCall(call, await open.giveUp(), why, true);
    if (open) this.#open.set(call.callId, open);
    this.#waitingFor.add(interactionId);
  }

  /** `asked`: the question in the middle of it; the other side must also hear that nobody answers. */
  #requestOf({ call, input }: HeldCall, asked: InteractionRow | null): ToolCall {
    const { taskId, workspaceId, actorId, clientId } = this.#deps.task;
    const answers = this.#answersTo(call);
    if (asked && asked.status !== "resolved") {
      const refused = asked.status === "expired" ? "cancel" : "decline";
      answers.push({ kind: asked.kind as Answered["kind"], answer: undefined, stateJson: asked.stateJson, refused });
    }
    const { callId, toolPath } = call;
    const ids = { taskId, callId, workspaceId, actorId, clientId, toolPath };
    return { ...ids, input, answer: answers.at(-1)?.answer, answers, signal: this.#deps.signal };
  }

  #askedLast(call: JournalCall): InteractionRow | null {
    return this.#deps.interactions.findLast((each) => each.callId === call.callId && each.kind !== "approval") ?? null;
  }

  #answersTo(call: JournalCall): Answered[] {
    const resolved = this.#deps.interactions.filter(
      (each) => each.callId === call.callId && each.kind !== "approval" && each.status === "resolved",
    );
    return resolved.map(({ kind, answerJson, stateJson }) => ({
      kind: kind as Answered["kind"],
      answer: answerJson === null ? undefined : (JSON.parse(answerJson) as unknown),
      stateJson,
    }));
  }

  /** A person was asked for something other than a yes, and has not given it. */
  #waitOrRefuse(call: JournalCall, asked: InteractionRow): void {
    if (asked.status === "pending") {
      this.#waitingFor.add(asked.interactionId);
    } else if (asked.status === "expired") {
      this.#finishCall(
        call,
        { ok: false, code: "approval.expired", message: `Nobody answered in time: ${asked.title}` },
        "expired",
        false,
      );
    } else {
      this.#finishCall(
        call,
        {
          ok: false,
          code: "approval.denied",
          message: `A person declined to answer${asked.reason ? `: ${asked.reason}` : "."}`,
        },
        `declined by ${asked.reviewerId}`,
        false,
      );
    }
  }

  #finishCall(call: JournalCall, outcome: ToolOutcome, why: string, urgent: boolean): void {
    if (this.#deps.signal.aborted) return this.#deps.onLate(call, outcome);
    const denied = !outcome.ok && denialCodes.has(outcome.code);
    this.#deps.journal.done(call, outcome, {
      denied,
      why,
      runMs: this.#deps.runMs(),
      deliver: !this.#guestIsOver,
      urgent,
    });
    this.#deps.onMove();
  }

  #askApproval(held: HeldCall, tool: Tool, decision: { why: string; mayHaveRun: boolean }): string {
    const detail = decision.mayHaveRun
      ? `An interruption hid the outcome of this call: it may already have happened. Approve to send it again; deny to let the code know that the outcome is unknown.`
      : tool.description;
    return this.#record(held, tool, {
      kind: "approval",
      title: `Call ${tool.path}`,
      detail,
      answerSchemaJson: null,
      url: null,
      why: decision.why,
      mayHaveRun: decision.mayHaveRun,
      stateJson: null,
      putOff: null,
    });
  }

  /** `putOff`: the call was sent and the other side put it off; the yes it was sent with is good for the next time. */
  #ask(held: HeldCall, tool: Tool, ask: Ask, why: string, putOff: NewInteraction["putOff"]): string {
    const { answerSchema, stateJson = null, ...rest } = ask;
    return this.#record(held, tool, {
      ...rest,
      answerSchemaJson: answerSchema && JSON.stringify(answerSchema),
      why,
      mayHaveRun: false,
      stateJson,
      putOff,
    });
  }

  #record(
    held: HeldCall,
    tool: Tool,
    about: Pick<
      NewInteraction,
      "kind" | "title" | "detail" | "answerSchemaJson" | "url" | "why" | "mayHaveRun" | "stateJson" | "putOff"
    >,
  ): string {
    const { host, limits, task, journal, interactions, lines } = this.#deps;
    // People see what was asked in the order the code asked, also within a millisecond.
    const createdAt = (this.#lastAskedAt = Math.max(host.now(), this.#lastAskedAt + 1));
    const interaction: NewInteraction = {
      ...about,
      interactionId: host.newId(about.kind === "approval" ? "approval" : "question"),
      callId: held.call.callId,
      toolPath: tool.path,
      inputJson: held.inputJson,
      inputDigest: held.call.inputDigest,
      schemaHash: tool.schemaHash,
      line: lines.find(held.line),
      createdAt,
      expiresAt: createdAt + limits.approvalExpiryMs,
    };
    journal.ask(interaction);
    const known = {
      workspaceId: task.workspaceId,
      taskId: task.taskId,
      status: "pending",
      resolvedAt: null,
      reviewerId: null,
      reason: null,
      answerJson: null,
      usedAt: null,
    };
    const { putOff: _, ...row } = interaction;
    interactions.push({ ...row, ...known, mayHaveRun: about.mayHaveRun ? 1 : 0 });
    return interaction.interactionId;
  }
}

/** The code is over, and the other side wants something from a person first: it has refused the call, so it did not happen. */
const nobodyToAsk = (toolPath: string): ToolOutcome => ({
  ok: false,
  code: "call.failed",
  message: `${toolPath} needs something from a person first, and the code did not await it.`,
});

/** When the rules cannot be read, nothing is allowed. */
const closed: PolicyVerdict = {
  decision: "deny",
  policyId: null,
  why: "the rules, which cannot be read now",
  matched: [],
};
