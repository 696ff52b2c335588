/** A process that claims and settles whatever is queued, and prints the ids it got. Arguments: database, worker id. */
import { openSqliteStore } from "../sqlite-store.ts";

const [path = "", workerId = ""] = process.argv.slice(2);
const store = await openSqliteStore({ path });
const got: string[] = [];
for (let idle = 0; idle < 5;) {
  const queued = await store.peekQueue({ runtimeIds: ["in-process"], afterWorkspaceId: "" });
  idle = queued.length === 0 ? idle + 1 : 0;
  const claims = await Promise.all(
    queued.map(({ taskId }) => store.claimTask({ taskId, workerId, leaseMs: 60_000, now: Date.now() })),
  );
  for (const claim of claims) {
    if (!claim) continue;
    const { taskId, workspaceId, attempt } = claim.task;
    got.push(taskId);
    await store.settleTask({
      fence: { taskId, workspaceId, workerId, attempt },
      entries: [],
      end: { status: "completed", resultJson: "1", error: null },
      runMs: 1,
      now: Date.now(),
    });
  }
}
await store.close();
process.stdout.write(JSON.stringify(got));
