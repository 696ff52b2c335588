/**
 * The runtimes as the server tells of them. A server that runs no tasks must not keep engines to answer that: such a runtime
 * is inspected, or said to be there when it needs nothing from the machine; workers probe it before they claim.
 */
import type { RuntimeTarget } from "@executor/contracts/tool";
import type { Runtime, RuntimeAvailability } from "@executor/core/ports/runtime";

export async function describeRuntimes(
  runtimes: readonly Runtime[],
  { probe }: { probe: boolean },
): Promise<RuntimeTarget[]> {
  return await Promise.all(
    runtimes.map(async (runtime) => {
      const { id, label, description } = runtime;
      const unasked: RuntimeAvailability = { available: true };
      const state = await (probe ? runtime.availability() : (runtime.inspect?.() ?? unasked));
      if (!state.available) return { id, label, description, available: false, reason: state.reason };
      const { confinement } = state;
      return { id, label, description, available: true, ...(confinement !== undefined && { confinement }) };
    }),
  );
}
