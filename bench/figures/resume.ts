/** From a person's decision to the end of the task, against a fresh task with the same call that nobody has to approve. */
import { type Figure, makeRow } from "../src/figure.ts";
import { type Api, openInstallation, requireApproval, runToEnd, submit, type TaskAnswer } from "../src/installation.ts";
import { p50, percentile, sampleInTurn, timeMs } from "../src/samples.ts";

const code = "return await tools.executor.echo({ value: 1 })";

export const resumeFigure: Figure = {
  name: "resume",
  means: "POST of a decision until the task is completed, p50",
  async measure({ quick }) {
    const product = await openInstallation();
    try {
      await requireApproval(product.owner, "executor.echo");
      const free = await product.newSession();
      const samples = await sampleInTurn(
        { fresh: () => timeMs(() => runToEnd(free, code)), resume: () => timeResume(product.owner) },
        { rounds: quick ? 50 : 250, warmUp: 20 },
      );
      return [
        makeRow({
          figure: "resume",
          unit: "ms",
          floor: p50(samples.fresh),
          product: p50(samples.resume),
          aim: "<= 2x",
          isMet: ({ ratio }) => ratio <= 2,
          note: `floor = a fresh run of the same code; product = 2 requests (decide, then wait), p90 ${percentile(samples.resume, 0.9).toFixed(2)}`,
        }),
      ];
    } finally {
      await product.close();
    }
  },
};

async function timeResume(api: Api): Promise<number> {
  const { taskId, status, pending } = await submit(api, code, "?wait=60000");
  const approvalId = pending?.[0]?.interactionId;
  if (status !== "waiting" || approvalId === undefined) throw new Error(`the task should wait and is ${status}`);
  return await timeMs(async () => {
    await api.request("POST", `/api/approvals/${approvalId}`, { workspaceId: api.workspaceId, decision: "approved" });
    const task = await api.request<TaskAnswer>("GET", `/api/tasks/${taskId}?wait=60000`);
    if (task.status !== "completed") throw new Error(`the task is ${task.status} after its approval`);
  });
}
