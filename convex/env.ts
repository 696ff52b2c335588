/** The environment of the deployment. Read at each call: Convex may change it without a new push. */

/** Convex gives its functions this much of a process, and no more. */
declare const process: { env: Record<string, string | undefined> };

export const serviceToken = (): string | undefined => process.env.EXECUTOR_SERVICE_TOKEN;
