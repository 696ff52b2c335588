import { describeRuntime } from "@executor/testkit/conformance/runtime";
import { createInProcessRuntime } from "./in-process-runtime.ts";

describeRuntime("runtime in-process", async () => createInProcessRuntime());
