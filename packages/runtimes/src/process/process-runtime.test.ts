import { fileURLToPath } from "node:url";
import { describeRuntime } from "@executor/testkit/conformance/runtime";
import { createProcessRuntime } from "./process-runtime.ts";

const isolateEntry = fileURLToPath(new URL("../../../../apps/isolate/src/main.ts", import.meta.url));
const limits = { memoryBytes: 32_000_000, cpuMs: 30_000, maxTextBytes: 10_000_000 };

describeRuntime("runtime process", async () => createProcessRuntime({ isolateEntry, ...limits, log: console.log }));
