/** The approvals inbox, the first screen. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { Feature } from "../../feature.ts";
import { rootRoute } from "../../root-route.ts";
import { tellOfNews } from "./notify.ts";
import { takeNews, useWaitingCount } from "./queries.ts";

export const approvalRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/",
    validateSearch: (search: Record<string, unknown>): { selected?: string } =>
      typeof search["selected"] === "string" ? { selected: search["selected"] } : {},
    component: lazyRouteComponent(() => import("./inbox.tsx"), "Inbox"),
  }),
] as const;

export const approvals: Feature = {
  nav: { to: "/", label: "Approvals", icon: "inbox", key: "a", useCount: useWaitingCount },
  onEvents: (events) => {
    takeNews(events);
    tellOfNews(events);
  },
};
