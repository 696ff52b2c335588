import { afterAll } from "bun:test";
import { describeRuntime } from "@executor/testkit/conformance/runtime";
import { openVercelBench, type VercelBench } from "@executor/testkit/vercel/vercel-bench";

let bench: VercelBench | undefined;
describeRuntime("runtime vercel-sandbox", async () => (bench = await openVercelBench()).runtime, { atOnce: 3 });
afterAll(() => bench?.stop());
