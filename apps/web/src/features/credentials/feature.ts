/** Credentials: which secrets there are, for what, and how the sign-ins are. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { Feature } from "../../feature.ts";
import { rootRoute } from "../../root-route.ts";
import { takeNews } from "./queries.ts";

export const credentialRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/secrets",
    component: lazyRouteComponent(() => import("./credentials-page.tsx"), "CredentialsPage"),
  }),
] as const;

export const credentials: Feature = {
  nav: { to: "/secrets", label: "Credentials", icon: "lock", key: "c", role: "admin" },
  onEvents: takeNews,
};
