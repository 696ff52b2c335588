/**
 * The runtimes as the server tells of them. A server that runs no tasks must not start engines to answer that: the
 * in-process engine needs nothing from the machine, so it is said to be there; workers probe it before they claim.
 * The others tell what they know without starting anything.
 */
import type { RuntimeTarget } from "@executor/contracts/tool";
import type { Runtime } from "@executor/core/ports/runtime";

export async function describeRuntimes(
  runtimes: readonly Runtime[],
  { probe }: { probe: boolean },
): Promise<RuntimeTarget[]> {
  return await Promise.all(
    runtimes.map(async (runtime) => {
      const { id, label, description } = runtime;
      const state = probe || id !== "in-process" ? await runtime.availability() : ({ available: true } as const);
      return { id, label, description, available: state.available, ...(!state.available && { reason: state.reason }) };
    }),
  );
}
