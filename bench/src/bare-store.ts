/**
 * The floor of durability: the rows a task needs, written with bun:sqlite and nothing else. WAL with synchronous = FULL as
 * the product has it, on the same file system, with prepared statements; the fewest indexes a reader of the log could do with.
 */
import { Database, type Statement } from "bun:sqlite";
import { join } from "node:path";

const schema = `
CREATE TABLE tasks (id TEXT PRIMARY KEY, status TEXT, body TEXT, attempt INTEGER, result TEXT) STRICT;
CREATE TABLE events (taskId TEXT, seq INTEGER, data TEXT, PRIMARY KEY (taskId, seq)) STRICT, WITHOUT ROWID;
CREATE TABLE audit (seq INTEGER PRIMARY KEY, action TEXT, data TEXT) STRICT;
CREATE TABLE calls (id TEXT PRIMARY KEY, taskId TEXT, status TEXT, data TEXT, outcome TEXT) STRICT;
`;
const taskBody = "x".repeat(1_000);
const eventBody = "x".repeat(120);
const callBody = "x".repeat(200);

export class BareStore {
  readonly #db: Database;
  readonly #insertTask: Statement;
  readonly #insertEvent: Statement;
  readonly #insertAudit: Statement;
  readonly #insertCall: Statement;
  readonly #finishCall: Statement;
  readonly #claimTask: Statement;
  readonly #settleTask: Statement;
  #next = 0;

  constructor(directory: string) {
    this.#db = new Database(join(directory, "bare.db"), { create: true, readwrite: true });
    this.#db.run("PRAGMA journal_mode = WAL");
    this.#db.run("PRAGMA synchronous = FULL");
    this.#db.run(schema);
    this.#insertTask = this.#db.prepare("INSERT INTO tasks VALUES (?, 'queued', ?, 0, NULL)");
    this.#insertEvent = this.#db.prepare("INSERT INTO events VALUES (?, ?, ?)");
    this.#insertAudit = this.#db.prepare("INSERT INTO audit VALUES (NULL, ?, ?)");
    this.#insertCall = this.#db.prepare("INSERT INTO calls VALUES (?, ?, 'sent', ?, NULL)");
    this.#finishCall = this.#db.prepare("UPDATE calls SET status = 'completed', outcome = ? WHERE id = ?");
    this.#claimTask = this.#db.prepare("UPDATE tasks SET status = 'running', attempt = attempt + 1 WHERE id = ?");
    this.#settleTask = this.#db.prepare("UPDATE tasks SET status = 'completed', result = ? WHERE id = ?");
  }

  /** The three transactions of a task that makes no calls. */
  writeTask(): void {
    const task = this.#create();
    this.#claim(task);
    this.#settle(task, 4);
  }

  /** Safe calls: their rows need only be there when the task settles, so they share its transaction. */
  writeTaskOfSafeCalls(count: number): void {
    const task = this.#create();
    this.#claim(task);
    this.#transact(() => {
      for (let call = 0; call < count; call++) {
        this.#send(task, call);
        this.#finish(task, call);
      }
      this.#end(task, 4 + 2 * count);
    });
  }

  /** Unsafe calls, one after the other: each `sent` is on disk before it leaves; the outcome before goes along. */
  writeTaskOfUnsafeCalls(count: number): void {
    const task = this.#create();
    this.#claim(task);
    for (let call = 0; call < count; call++) {
      this.#transact(() => {
        if (call > 0) this.#finish(task, call - 1);
        this.#send(task, call);
      });
    }
    this.#transact(() => {
      this.#finish(task, count - 1);
      this.#end(task, 4 + 2 * count);
    });
  }

  close(): void {
    this.#db.close();
  }

  #create(): string {
    const task = `task_${this.#next++}`;
    this.#transact(() => {
      this.#insertTask.run(task, taskBody);
      this.#insertEvent.run(task, 1, eventBody);
      this.#insertEvent.run(task, 2, eventBody);
      this.#insertAudit.run("task.created", eventBody);
    });
    return task;
  }

  #claim(task: string): void {
    this.#transact(() => {
      this.#claimTask.run(task);
      this.#insertEvent.run(task, 3, eventBody);
    });
  }

  #settle(task: string, seq: number): void {
    this.#transact(() => this.#end(task, seq));
  }

  #end(task: string, seq: number): void {
    this.#settleTask.run("2", task);
    this.#insertEvent.run(task, seq, eventBody);
    this.#insertAudit.run("task.completed", eventBody);
  }

  #send(task: string, call: number): void {
    this.#insertCall.run(`${task}/${call}`, task, callBody);
    this.#insertEvent.run(task, 4 + 2 * call, eventBody);
  }

  #finish(task: string, call: number): void {
    this.#finishCall.run(callBody, `${task}/${call}`);
    this.#insertEvent.run(task, 5 + 2 * call, eventBody);
    this.#insertAudit.run("call.completed", eventBody);
  }

  #transact(write: () => void): void {
    this.#db.run("BEGIN IMMEDIATE");
    write();
    this.#db.run("COMMIT");
  }
}
