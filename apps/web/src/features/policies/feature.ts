/** Policies: which calls run, which ask, which are refused. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { Feature } from "../../feature.ts";
import { rootRoute } from "../../root-route.ts";

export const policyRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/policies",
    component: lazyRouteComponent(() => import("./policies-page.tsx"), "PoliciesPage"),
  }),
] as const;

export const policies: Feature = {
  nav: { to: "/policies", label: "Policies", icon: "shield", key: "p", role: "admin" },
};
