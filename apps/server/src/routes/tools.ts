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
/** About two megabytes; `total` says what was left out. */
const MAX_NAMES = 20_000;

export function toolRoutes(deps: AppDeps): HandlersOf<"listTools" | "listToolNames" | "searchTools" | "readTool"> {
  return {
    async listTools({ caller, query }) {
      const visible = visibleTools(await openToolView(deps, caller), query.namespace);
      const from = readCursor(NumberMark, query.cursor) ?? 0;
      const to = from + (query.limit ?? DEFAULT_PAGE);
      const items = await Promise.all(visible.slice(from, to).map(summarise));
      return { status: 200, body: { items, ...(to < visible.length && { nextCursor: writeCursor(to) }) } };
    },

    async listToolNames({ caller, query }) {
      const visible = visibleTools(await openToolView(deps, caller), query.namespace);
      const items = visible
        .slice(0, MAX_NAMES)
        .map(({ tool: { path, effect }, approval }) => ({ path, approval, effect }));
      return { status: 200, body: { items, total: visible.length } };
    },

    async searchTools({ caller, query }) {
      const limit = query.limit ?? DEFAULT_RESULTS;
      const view = await openToolView(deps, caller);
      const { results, total, leads } = searchTools(view, query.query, limit, query.namespace);
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
