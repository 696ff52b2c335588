/** The page on which a person gives a task what it waits for. Reached by links only. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../../root-route.ts";

export const interactionRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/interactions/$interactionId",
    component: lazyRouteComponent(() => import("./interaction-page.tsx"), "InteractionPage"),
  }),
] as const;
