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
import type { Answered, Ask, Tool, ToolOutcome } from "../tools/tool.ts";
import { denialCodes, gateCall } from "./gate-call.ts";
import type { Journal, JournalCall } from "./journal.ts";
import { isRepeatable, performCall } from "./perform-call.ts";

export interface HeldCall {
  call: JournalCall;
  input: unknown;
  inputJson: string;
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
    const approvals = interactions.filter((each) => each.kind === "approval");
    const decision = gateCall({
      toolPath: call.toolPath,
      inputDigest: call.inputDigest,
      journal: call.state,
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
        const code = !policies && decision.code === "policy.denied" ? "policy.unavailable" : decision.code;
        this.#finishCall(call, { ok: false, code, message: decision.message }, decision.why, false);
        return null;
      }
      case "pause":
        if (!this.#guestIsOver)
          this.#waitingFor.add(decision.approvalId ?? this.#askApproval(held, tool as Tool, decision));
        return null;
      case "execute":
        return () => this.#perform(held, tool as Tool, decision.approvalId, decision.why);
    }
  }

  /** In the place of a call that ended. The world may have changed while it waited, so it is gated again. */
  async #performQueued(): Promise<void> {
    const next = this.#queued.shift();
    if (!next) return;
    const policies = await this.#deps.readPolicies().catch(() => null);
    if (!this.#deps.isStopped()) await this.#gate(next, policies)?.();
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

  async #perform(held: HeldCall, tool: Tool, approvalId: string | null, why: string): Promise<void> {
    const { task, journal, limits, signal } = this.#deps;
    const { call } = held;
    const asked = this.#deps.interactions.findLast((each) => each.callId === call.callId && each.kind !== "approval");
    if (asked && asked.status !== "resolved") return this.#waitOrRefuse(call, asked);
    const answers = this.#answersTo(call);
    const { taskId, workspaceId, actorId, clientId } = task;
    const request = {
      taskId,
      callId: call.callId,
      workspaceId,
      actorId,
      clientId,
      toolPath: call.toolPath,
      input: held.input,
      answer: answers.at(-1)?.answer,
      answers,
      signal,
    };
    const performed = await performCall(
      { journal, maxResultBytes: limits.callResultBytes },
      call,
      tool,
      request,
      approvalId,
    );
    if (performed.kind === "outcome") this.#finishCall(call, performed.outcome, why, !isRepeatable(tool));
    else if (!this.#guestIsOver)
      this.#waitingFor.add(this.#ask(held, tool, performed.ask, why, performed.putOff ? { approvalId } : null));
    else if (performed.putOff) this.#finishCall(call, nobodyToAsk(tool.path), why, true);
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
    const { host, limits, task, journal, interactions } = this.#deps;
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
