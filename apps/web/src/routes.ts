/**
 * Every feature of the console, in one place. To add one: a folder in features/ with a `feature.ts` that exports its routes
 * and its Feature, then one line in each of the two lists.
 */
import type { Feature } from "./feature.ts";
import { approvals, approvalRoutes } from "./features/approvals/feature.ts";
import { activity, activityRoutes } from "./features/activity/feature.ts";
import { connect, connectRoutes } from "./features/connect/feature.ts";
import { credentials, credentialRoutes } from "./features/credentials/feature.ts";
import { interactionRoutes } from "./features/interactions/feature.ts";
import { policies, policyRoutes } from "./features/policies/feature.ts";
import { sources, sourceRoutes } from "./features/sources/feature.ts";
import { tasks, taskRoutes } from "./features/tasks/feature.ts";
import { rootRoute } from "./root-route.ts";

/** In the order of the navigation. */
export const features: Feature[] = [approvals, tasks, sources, credentials, policies, connect, activity];

export const routeTree = rootRoute.addChildren([
  ...approvalRoutes,
  ...taskRoutes,
  ...sourceRoutes,
  ...credentialRoutes,
  ...policyRoutes,
  ...connectRoutes,
  ...activityRoutes,
  ...interactionRoutes,
]);
