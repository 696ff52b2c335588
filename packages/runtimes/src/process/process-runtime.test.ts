import { isolateEntry } from "@executor/testkit/isolate/isolate-entry";
import { describeRuntime } from "@executor/testkit/conformance/runtime";
import { createProcessRuntime } from "./process-runtime.ts";

const limits = { memoryBytes: 32_000_000, cpuMs: 30_000, maxTextBytes: 10_000_000 };

describeRuntime("runtime process", async () => createProcessRuntime({ isolateEntry, ...limits, log: console.log }));
