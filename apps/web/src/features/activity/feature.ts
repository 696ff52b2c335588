/** Activity: who did, asked and decided what. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { Feature } from "../../feature.ts";
import { rootRoute } from "../../root-route.ts";

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value.slice(0, 200) : undefined;

export const activityRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/activity",
    validateSearch: (search: Record<string, unknown>): { action?: string; actor?: string } => {
      const action = text(search["action"]);
      const actor = text(search["actor"]);
      return { ...(action !== undefined && { action }), ...(actor !== undefined && { actor }) };
    },
    component: lazyRouteComponent(() => import("./activity-page.tsx"), "ActivityPage"),
  }),
] as const;

export const activity: Feature = {
  nav: { to: "/activity", label: "Activity", icon: "activity", key: "l", role: "admin" },
};
