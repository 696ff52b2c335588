/** Sources: the list, adding one, one of them with its tools. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { Feature } from "../../feature.ts";
import { rootRoute } from "../../root-route.ts";
import { takeNews } from "./queries.ts";

export const sourceRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/sources",
    component: lazyRouteComponent(() => import("./source-list.tsx"), "SourceList"),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/sources/add",
    component: lazyRouteComponent(() => import("./add-source.tsx"), "AddSource"),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/sources/$sourceId",
    /** The tool that is looked at. */
    validateSearch: (search: Record<string, unknown>): { tool?: string } =>
      typeof search["tool"] === "string" ? { tool: search["tool"] } : {},
    component: lazyRouteComponent(() => import("./source-detail.tsx"), "SourceDetail"),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/sources/$sourceId/edit",
    component: lazyRouteComponent(() => import("./edit-source.tsx"), "EditSource"),
  }),
] as const;

export const sources: Feature = {
  nav: { to: "/sources", label: "Sources", icon: "plug", key: "s" },
  onEvents: takeNews,
};
