/* eslint-disable */
/**
 * Generated `api` utility.
 *
 * THIS CODE IS AUTOMATICALLY GENERATED.
 *
 * To regenerate, run `npx convex dev`.
 * @module
 */

import type {
  ApiFromModules,
  FilterApi,
  FunctionReference,
} from "convex/server";
import type * as audit from "../audit.js";
import type * as credentials from "../credentials.js";
import type * as env from "../env.js";
import type * as events from "../events.js";
import type * as identity from "../identity.js";
import type * as interactions from "../interactions.js";
import type * as policies from "../policies.js";
import type * as queue from "../queue.js";
import type * as runs from "../runs.js";
import type * as service from "../service.js";
import type * as sources from "../sources.js";
import type * as tasks from "../tasks.js";
import type * as tx from "../tx.js";

/**
 * A utility for referencing Convex functions in your app's API.
 *
 * Usage:
 * ```js
 * const myFunctionReference = api.myModule.myFunction;
 * ```
 */
declare const fullApi: ApiFromModules<{
  audit: typeof audit;
  credentials: typeof credentials;
  env: typeof env;
  events: typeof events;
  identity: typeof identity;
  interactions: typeof interactions;
  policies: typeof policies;
  queue: typeof queue;
  runs: typeof runs;
  service: typeof service;
  sources: typeof sources;
  tasks: typeof tasks;
  tx: typeof tx;
}>;
export declare const api: FilterApi<
  typeof fullApi,
  FunctionReference<any, "public">
>;
export declare const internal: FilterApi<
  typeof fullApi,
  FunctionReference<any, "internal">
>;
