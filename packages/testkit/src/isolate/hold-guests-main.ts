/** A host of its own that holds isolates in three states until it is killed: warm, waiting for a call, and inside an endless loop. */
import { transpileTask } from "@executor/runtimes/guest/transpile-task";
import { createProcessRuntime } from "@executor/runtimes/process/process-runtime";
import { guestLimits, isolateEntry, isolateLimits } from "./isolate-entry.ts";

const [runDir, bubblewrap] = process.argv.slice(2);
const runtime = createProcessRuntime({
  isolateEntry,
  ...isolateLimits,
  runDir,
  bubblewrap: bubblewrap === "1",
  warm: 1,
});
for (const code of ["await tools.a();", "for (;;) {}"]) {
  const task = transpileTask(code);
  if (!task.ok) throw new Error(task.message);
  const program = {
    taskId: "task_1",
    fence: { taskId: "task_1", workspaceId: "ws_1", workerId: "worker_1", attempt: 1 },
    script: task.script,
    seed: "0".repeat(32),
    startMs: 0,
    limits: { ...guestLimits, cpuMs: 60_000 },
  };
  const session = await runtime.open(program);
  const turn = session.advance([]);
  if (code.includes("tools")) await turn;
}
while (runtime.processIds.length < 3) await Bun.sleep(20);
await Bun.sleep(300);
process.stdout.write(`${JSON.stringify(runtime.processIds)}\n`);
await new Promise(() => undefined);
