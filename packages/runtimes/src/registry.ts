/** The runtimes an installation has, by id. The first one is the default. */
import { AppError } from "@executor/contracts/error";
import type { Runtime, RuntimeAvailability } from "@executor/core/ports/runtime";

export interface RuntimeTarget {
  id: string;
  label: string;
  description: string;
  availability: RuntimeAvailability;
}

export interface RuntimeRegistry {
  readonly defaultId: string;
  readonly ids: readonly string[];
  /** Throws runtime.not_found. */
  get(id: string): Runtime;
  listTargets(): Promise<RuntimeTarget[]>;
  close(): Promise<void>;
}

export function createRuntimeRegistry(runtimes: readonly Runtime[]): RuntimeRegistry {
  const byId = new Map(runtimes.map((runtime) => [runtime.id, runtime]));
  const [first] = runtimes;
  if (first === undefined || byId.size !== runtimes.length)
    throw new Error("a registry needs runtimes, each with an id of its own");
  return {
    defaultId: first.id,
    ids: [...byId.keys()],
    get(id) {
      const runtime = byId.get(id);
      if (runtime === undefined)
        throw new AppError(
          "runtime.not_found",
          `There is no runtime "${id}" here; there are: ${[...byId.keys()].join(", ")}.`,
        );
      return runtime;
    },
    listTargets: () =>
      Promise.all(
        runtimes.map(async (runtime) => ({
          id: runtime.id,
          label: runtime.label,
          description: runtime.description,
          availability: await runtime.availability(),
        })),
      ),
    async close() {
      await Promise.all(runtimes.map((runtime) => runtime.close()));
    },
  };
}
