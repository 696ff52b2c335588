/** An unsafe tool that counts how often it really happened, and keeps the order. */
import { result, type TestTool } from "./test-tools.ts";

export function createEffects(
  path = "bank.pay",
  more: Partial<TestTool> = {},
): { tool: TestTool; happened: unknown[] } {
  const happened: unknown[] = [];
  const tool: TestTool = {
    path,
    run: (call) => {
      happened.push(call.input);
      return result({ paid: happened.length });
    },
    ...more,
  };
  return { tool, happened };
}
