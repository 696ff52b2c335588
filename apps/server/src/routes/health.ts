/** Is it up. Open to all, so it tells nothing about tenants; a store or runtime that hangs must not hang it. */
import type { Health } from "@executor/contracts/identity";
import type { AppDeps } from "../deps.ts";
import type { HandlersOf } from "../http/route-types.ts";

const ANSWER_WITHIN_MS = 3_000;
const WORKER_SEEN_MS = 30_000;

export function healthRoutes({ store, host, runtimes, version, log }: AppDeps): HandlersOf<"health"> {
  const countWorkers = () => store.countWorkers({ seenSince: host.now() - WORKER_SEEN_MS });
  return {
    async health() {
      const [workers, targets] = await Promise.all([
        within(countWorkers()).catch((error: unknown) => {
          log.error("health.store_failed", { error });
          return null;
        }),
        within(runtimes.list()).catch((error: unknown) => {
          log.error("health.runtimes_failed", { error });
          return [];
        }),
      ]);
      const body: Health = {
        ok: workers !== null,
        version,
        store: { kind: store.kind, ok: workers !== null },
        runtimes: targets.map(({ id, available }) => ({ id, available })),
        workers: workers ?? 0,
      };
      return body.ok ? { status: 200, body } : { status: 503, body };
    },
  };

  async function within<T>(work: Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const stop = host.setTimer(ANSWER_WITHIN_MS, () =>
      late.reject(new Error(`no answer within ${ANSWER_WITHIN_MS} ms`)),
    );
    return await Promise.race([work, late.promise]).finally(stop);
  }
}
