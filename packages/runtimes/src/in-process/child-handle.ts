/**
 * The parent's side of one child: one turn at a time, first come first served, so that it is always known whose turn is running.
 * A guest that has not run yet waits in the pool, not here: no hog can be in its way. A turn that goes on too long exiles the child: its other sessions are lost (and replayed elsewhere) instead of waiting behind a hog.
 * The handle decides about its own child only; the pool decides where sessions go and when children start and end.
 */
import { randomBytes } from "node:crypto";
import { constants, setPriority } from "node:os";
import { GuestLost, type Turn } from "@executor/core/ports/runtime";
import type { ChildLink, ChildListener, LinkOwner } from "./child-listener.ts";
import { readChildCpuMs, readChildRssBytes } from "./child-meter.ts";
import type { Frame, ToParent } from "./guest-frames.ts";
import type { PoolSession } from "./pool-session.ts";
import { type ChildProcess, spawnChild } from "./spawn-child.ts";
import { type DeliveryBatch, decodeTurn } from "./turn-codec.ts";

/** starting -> regular <-> exiled -> dead. `exiled` serves its hog only. */
export type ChildState = "starting" | "regular" | "exiled" | "dead";

export interface ChildTimes {
  exileAfterMs: number;
  reniceAfterMs: number;
  watchdogGraceMs: number;
  closeGraceMs: number;
  stalledMs: number;
  maxRssBytes: number;
}

export interface ChildEvents {
  /** The state or the sessions changed. */
  changed(child: ChildHandle): void;
  /** The first turn of a guest that waits since before `sinceMs`, if there is one. */
  takeFresh(sinceMs: number): Job | undefined;
  log(message: string): void;
}

/** A turn that waits to run. */
export interface Job {
  session: PoolSession;
  batch: DeliveryBatch;
  queuedAtMs: number;
  resolve(turn: Turn): void;
  reject(error: Error): void;
}

interface RunningTurn extends Job {
  startedAtMs: number;
  timer: ReturnType<typeof setTimeout>;
  /** The last CPU reading, and when it last moved. */
  cpuMs: number;
  movedAtMs: number;
}

const recheckMs = 15;
const watchMs = 50;

export class ChildHandle implements LinkOwner {
  state: ChildState = "starting";
  readonly sessions = new Set<PoolSession>();
  /** Settles when the child is ready or dead. */
  readonly settled: Promise<void>;
  readonly #settle: () => void;
  readonly #process: ChildProcess;
  readonly #times: ChildTimes;
  readonly #events: ChildEvents;
  readonly #token = randomBytes(16).toString("hex");
  readonly #listener: ChildListener;
  #link: ChildLink | undefined;
  #queue: Job[] = [];
  #running: RunningTurn | undefined;
  #hog: PoolSession | undefined;
  #reniced = false;
  #cpuBeforeTurnMs = 0;
  #stderr = "";

  constructor(listener: ChildListener, times: ChildTimes, events: ChildEvents) {
    this.#listener = listener;
    this.#times = times;
    this.#events = events;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.settled = promise;
    this.#settle = resolve;
    listener.expect(this.#token, this);
    this.#process = spawnChild(
      { socketPath: listener.socketPath, token: this.#token, parentPid: process.pid },
      listener.directory,
    );
    this.#process.unref();
    void this.#process.exited.then(() => this.kill("the child ended by itself"));
    this.#keepStderr().catch(() => {});
  }

  get pid(): number {
    return this.#process.pid;
  }

  get isIdle(): boolean {
    return this.#running === undefined;
  }

  /** Since when the turn that waits longest waits. */
  get waitingSinceMs(): number {
    return this.#queue[0]?.queuedAtMs ?? Number.POSITIVE_INFINITY;
  }

  connected(link: ChildLink, hello: Extract<ToParent, { t: "hello" }>): void {
    if (this.state !== "starting") return link.close();
    this.#link = link;
    this.#cpuBeforeTurnMs = Number(hello.totalMs) || 0;
    this.state = "regular";
    this.#settle();
    this.#events.changed(this);
  }

  disconnected(): void {
    this.kill("the child hung up");
  }

  #addSession(session: PoolSession): void {
    session.child = this;
    this.sessions.add(session);
    const { seed, startMs, limits, script } = session.program;
    this.#link?.queue({ t: "open", s: session.number, seed, startMs, limits }, [new TextEncoder().encode(script)]);
  }

  runTurn(session: PoolSession, batch: DeliveryBatch): Promise<Turn> {
    if (this.state === "dead" || !this.sessions.has(session))
      return Promise.reject(new GuestLost("the engine under this guest is gone"));
    if (this.state === "exiled" && session !== this.#hog) {
      this.#evict(session);
      return Promise.reject(new GuestLost("the guest was moved away from a busy neighbour"));
    }
    const { promise, resolve, reject } = Promise.withResolvers<Turn>();
    this.#queue.push({ session, batch, queuedAtMs: performance.now(), resolve, reject });
    this.runNext();
    return promise;
  }

  /** Ends a session. One that is inside the engine gets a moment to come back; then the whole child goes. */
  closeSession(session: PoolSession): void {
    if (!this.sessions.delete(session)) return;
    this.#rejectQueued(session, new GuestLost("the session was closed"));
    if (this.#running?.session === session) {
      const running = this.#running;
      running.reject(new GuestLost("the session was closed"));
      setTimeout(() => {
        if (this.#running === running) this.kill("a closed guest did not come back");
      }, this.#times.closeGraceMs);
    }
    if (this.state !== "dead") this.#link?.send({ t: "close", s: session.number });
    this.#leaveExile();
    this.#events.changed(this);
  }

  kill(reason: string, verdict?: Turn): void {
    if (this.state === "dead") return;
    const wasStarting = this.state === "starting";
    this.state = "dead";
    this.#listener.forget(this.#token);
    this.#process.kill("SIGKILL");
    this.#link?.close();
    this.#settle();
    if (reason !== "")
      this.#events.log(
        `guest child ${this.pid}: ${reason}${this.#stderr === "" ? "" : `: ${this.#stderr.trim()}`}${wasStarting ? " (before it was ready)" : ""}`,
      );
    const lost = new GuestLost("the engine under this guest is gone");
    if (this.#running !== undefined) {
      clearTimeout(this.#running.timer);
      if (verdict === undefined) this.#running.reject(lost);
      else this.#running.resolve(verdict);
      this.#running = undefined;
    }
    for (const job of this.#queue.splice(0)) job.reject(lost);
    this.sessions.clear();
    this.#events.changed(this);
  }

  received(frame: Frame<ToParent>): void {
    const running = this.#running;
    const { header } = frame;
    if (header.t === "hello" || running === undefined || header.s !== running.session.number)
      return this.kill("the child sent what nobody asked for");
    clearTimeout(running.timer);
    this.#running = undefined;
    if (header.t === "lost") {
      this.sessions.delete(running.session);
      this.#events.log(`guest child ${this.pid}: ${String(header.message).slice(0, 500)}`);
      running.reject(new GuestLost("the engine failed under this guest"));
    } else {
      try {
        const turn = decodeTurn({ header, blobs: frame.blobs });
        this.#cpuBeforeTurnMs = Number(header.totalMs) || 0;
        running.session.cpuMs = turn.cpuMs;
        if (turn.end !== undefined) this.sessions.delete(running.session);
        running.resolve(turn);
      } catch (error) {
        running.reject(new GuestLost("the engine under this guest is gone"));
        return this.kill(`the child sent a turn that cannot be read: ${String(error)}`);
      }
    }
    this.#leaveExile();
    this.runNext();
    if (this.sessions.size === 0) this.#events.changed(this);
  }

  /** Starts the turn that waits longest, here or in the pool, unless one is running. */
  runNext(): void {
    if (this.#running !== undefined || this.state === "dead" || this.state === "starting") return;
    const fresh = this.state === "regular" ? this.#events.takeFresh(this.waitingSinceMs) : undefined;
    const job = fresh ?? this.#queue.shift();
    if (job === undefined) return;
    if (fresh !== undefined) this.#addSession(fresh.session);
    const now = performance.now();
    this.#running = {
      ...job,
      startedAtMs: now,
      timer: setTimeout(() => this.#watch(), this.#times.exileAfterMs),
      cpuMs: 0,
      movedAtMs: now,
    };
    this.#link?.send({ t: "advance", s: job.session.number, d: job.batch.header }, job.batch.blobs);
  }

  /** Looks at a turn that did not come back at once: exile, then low priority, then the end. */
  #watch(): void {
    const running = this.#running;
    if (running === undefined) return;
    const now = performance.now();
    const wallMs = now - running.startedAtMs;
    const total = readChildCpuMs(this.pid);
    const cpuMs = total === undefined ? wallMs : Math.max(total - this.#cpuBeforeTurnMs, 0);
    if (cpuMs > running.cpuMs) {
      running.cpuMs = cpuMs;
      running.movedAtMs = now;
    }
    const { exileAfterMs, reniceAfterMs, watchdogGraceMs, stalledMs, maxRssBytes } = this.#times;
    const { limits } = running.session.program;
    if (cpuMs > limits.cpuMs - running.session.cpuMs + watchdogGraceMs) {
      return this.kill(
        "",
        stoppedTurn("task.cpu_limit", `The code used more than ${limits.cpuMs} ms of CPU time`, limits.cpuMs),
      );
    }
    if ((readChildRssBytes(this.pid) ?? 0) > maxRssBytes)
      return this.kill(
        "the child grew too large",
        stoppedTurn("task.memory_limit", "The code made its engine grow too large", running.session.cpuMs),
      );
    if (now - running.movedAtMs > stalledMs) return this.kill("the child stands still");
    // A child that merely waited for a core has done little: moving its guests would only make that worse.
    if (this.state === "regular" && (cpuMs >= exileAfterMs * 0.7 || wallMs > exileAfterMs * 20))
      this.#exile(running.session);
    if (this.state === "exiled" && !this.#reniced && cpuMs >= reniceAfterMs) this.#renice();
    running.timer = setTimeout(() => this.#watch(), this.state === "regular" ? recheckMs : watchMs);
  }

  #exile(hog: PoolSession): void {
    this.state = "exiled";
    this.#hog = hog;
    for (const job of this.#queue.splice(0)) {
      if (job.session === hog) this.#queue.push(job);
      else {
        this.#evict(job.session);
        job.reject(new GuestLost("the guest was moved away from a busy neighbour"));
      }
    }
    this.#events.changed(this);
  }

  /** Idle neighbours stay until they are advanced: if the hog ends soon, they never notice. */
  #leaveExile(): void {
    if (this.state !== "exiled" || this.#running !== undefined) return;
    if (!this.#reniced) {
      this.state = "regular";
      this.#hog = undefined;
      this.#events.changed(this);
    } else if (this.#hog === undefined || !this.sessions.has(this.#hog)) this.kill("");
  }

  #renice(): void {
    this.#reniced = true;
    try {
      setPriority(this.pid, constants.priority.PRIORITY_LOW);
    } catch {
      // It is gone already, or the system does not let us: the watchdog still ends it.
    }
  }

  #evict(session: PoolSession): void {
    if (this.sessions.delete(session)) this.#link?.send({ t: "close", s: session.number });
  }

  #rejectQueued(session: PoolSession, error: Error): void {
    for (const job of this.#queue.splice(0)) {
      if (job.session === session) job.reject(error);
      else this.#queue.push(job);
    }
  }

  async #keepStderr(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of this.#process.stderr) this.#stderr = (this.#stderr + decoder.decode(chunk)).slice(-2_000);
  }
}

function stoppedTurn(code: "task.cpu_limit" | "task.memory_limit", message: string, cpuMs: number): Turn {
  return { calls: [], timers: [], clearedTimers: [], output: [], cpuMs, end: { kind: "stopped", code, message } };
}
