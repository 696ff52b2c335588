/** Eight claims of the same task at once; prints the workers that got it. Arguments: database, a name, task id. */
import { openSqliteStore } from "../sqlite-store.ts";

const [path = "", name = "", taskId = ""] = process.argv.slice(2);
const store = await openSqliteStore({ path });
const claims = await Promise.all(
  Array.from({ length: 8 }, (_, n) =>
    store.claimTask({ taskId, workerId: `${name}-${n}`, leaseMs: 60_000, now: Date.now() }),
  ),
);
process.stdout.write(JSON.stringify(claims.flatMap((claim) => (claim ? [claim.task.workerId] : []))));
await store.close();
