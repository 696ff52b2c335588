/** Tools as the caller may use them: what policy denies is absent here, as it is in discovery. */
import { AppError } from "@executor/contracts/error";
import {
  detail,
  findVisible,
  nearestVisible,
  searchTools,
  summarise,
  visibleTools,
} from "@executor/core/tools/describe-tools";
import type { AppDeps } from "../deps.ts";
import { NumberMark, readCursor, writeCursor } from "../http/pages.ts";
import type { HandlersOf } from "../http/route-types.ts";
import { openToolView } from "../tools/open-view.ts";

const DEFAULT_RESULTS = 10;
const DEFAULT_PAGE = 200;

export function toolRoutes(deps: AppDeps): HandlersOf<"listTools" | "searchTools" | "readTool"> {
  return {
    async listTools({ caller, query }) {
      const visible = visibleTools(await openToolView(deps, caller), query.namespace);
      const from = readCursor(NumberMark, query.cursor) ?? 0;
      const to = from + (query.limit ?? DEFAULT_PAGE);
      const items = await Promise.all(visible.slice(from, to).map(summarise));
      return { status: 200, body: { items, ...(to < visible.length && { nextCursor: writeCursor(to) }) } };
    },

    async searchTools({ caller, query }) {
      const { results, total, leads } = searchTools(
        await openToolView(deps, caller),
        query.query,
        query.limit ?? DEFAULT_RESULTS,
      );
      const items = await Promise.all(results.map(summarise));
      const [best] = items;
      return { status: 200, body: { items, total, ...(leads && best && { bestPath: best.path }) } };
    },

    async readTool({ caller, param }) {
      const path = param("path");
      const view = await openToolView(deps, caller);
      const found = findVisible(view, path);
      if (!found) {
        const nearest = nearestVisible(view, path);
        const hint = nearest.length > 0 ? ` Nearest: ${nearest.join(", ")}.` : "";
        throw new AppError(
          "tool.not_found",
          `There is no tool ${path.slice(0, 200)} that this caller may use.${hint}`,
          {
            data: { nearest },
          },
        );
      }
      return { status: 200, body: await detail(found) };
    },
  };
}
