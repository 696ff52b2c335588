/** Connect: keys of assistants, how to set them up, and who else may join. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { Feature } from "../../feature.ts";
import { rootRoute } from "../../root-route.ts";

export const connectRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/connect",
    component: lazyRouteComponent(() => import("./connect-page.tsx"), "ConnectPage"),
  }),
] as const;

export const connect: Feature = { nav: { to: "/connect", label: "Connect", icon: "link", key: "k", role: "admin" } };
