/** A task as something to paste elsewhere. The token is never among it. */
import type { Task } from "@executor/client";

type Source = Pick<Task, "code" | "workspaceId" | "runtimeId">;

export function toCurl({ code, workspaceId, runtimeId }: Source, baseUrl: string): string {
  const body = JSON.stringify({ workspaceId, runtimeId, code });
  return [
    `curl -sS '${baseUrl}/api/tasks?wait=60000'`,
    `  -H "Authorization: Bearer $EXECUTOR_TOKEN"`,
    `  -H 'Content-Type: application/json'`,
    `  --data-raw '${body.replaceAll("'", `'\\''`)}'`,
  ].join(" \\\n");
}

export function toSdk({ code, workspaceId, runtimeId }: Source, baseUrl: string): string {
  return `import { createExecutor } from "@executor/client";

const executor = createExecutor({
  baseUrl: ${JSON.stringify(baseUrl)},
  token: process.env.EXECUTOR_TOKEN,
  workspaceId: ${JSON.stringify(workspaceId)},
});

const result = await executor.tasks.run({
  runtimeId: ${JSON.stringify(runtimeId)},
  code: ${JSON.stringify(code)},
});
console.log(result);
`;
}
