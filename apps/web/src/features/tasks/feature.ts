/** Tasks: the list, the composer, one task. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { Feature } from "../../feature.ts";
import { rootRoute } from "../../root-route.ts";
import { takeNews } from "./queries.ts";
import { isTaskStatus, type TaskStatus } from "./status.ts";

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

export const taskRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/tasks",
    validateSearch: (search: Record<string, unknown>): { status?: TaskStatus; mine?: true } => ({
      ...(isTaskStatus(search["status"]) && { status: search["status"] }),
      ...(search["mine"] === true && { mine: true }),
    }),
    component: lazyRouteComponent(() => import("./task-list.tsx"), "TaskList"),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/tasks/new",
    /** `from`: a task whose code is taken; `tool`: a tool the code begins with. */
    validateSearch: (search: Record<string, unknown>): { from?: string; tool?: string } => ({
      ...(text(search["from"]) !== undefined && { from: text(search["from"]) }),
      ...(text(search["tool"]) !== undefined && { tool: text(search["tool"]) }),
    }),
    component: lazyRouteComponent(() => import("./composer.tsx"), "Composer"),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/tasks/$taskId",
    component: lazyRouteComponent(() => import("./task-detail.tsx"), "TaskDetail"),
  }),
] as const;

export const tasks: Feature = {
  nav: { to: "/tasks", label: "Tasks", icon: "tasks", key: "t" },
  onEvents: takeNews,
};
