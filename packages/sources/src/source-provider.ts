/** The tools of a workspace's sources, and those by which code may look at and propose sources. */
import { AppError } from "@executor/contracts/error";
import type { ToolProvider } from "@executor/core/ports/tools";
import { createSegment } from "@executor/core/tools/tool-segment";
import { createSourceBuiltins } from "./source-builtins.ts";
import { createSourceSegments, type SegmentDeps } from "./source-segments.ts";
import type { SourceService } from "./source-service.ts";

export interface SourceProvider extends ToolProvider {
  /** Ends sessions and processes of the sources. */
  close(): Promise<void>;
}

export function createSourceProvider(deps: SegmentDeps, service: SourceService): SourceProvider {
  const segments = createSourceSegments(deps);
  const builtins = createSegment("executor", createSourceBuiltins(service));
  return {
    async openCatalog({ workspaceId }) {
      const rows = await deps.store.listSources({ workspaceId });
      const opened = await Promise.all(
        rows.map((row) =>
          segments.open(row).catch(async (error: unknown) => {
            deps.log.error("source.unopened", { sourceId: row.sourceId, reason: String(error) });
            // What is stored is damaged: read anew it comes back. Once; a reading that fails has its own times.
            if (!(error instanceof AppError) && row.health === "ok" && row.indexingBy === null)
              await deps.store
                .requestIndexing({ sourceId: row.sourceId, workspaceId: row.workspaceId, now: deps.host.now() })
                .catch(() => undefined);
            return null;
          }),
        ),
      );
      return { segments: [builtins, ...opened.filter((segment) => segment !== null)] };
    },
    close: () => segments.close(),
  };
}
