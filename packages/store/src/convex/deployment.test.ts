/**
 * The conformance suite on a real Convex deployment (`bun run test:convex`): conflicts between transactions, limits, the push.
 * It writes into the deployment it is given, in workspaces of its own, and leaves them there.
 */
import { expect, test } from "bun:test";
import { describeStore } from "@executor/testkit/conformance/store";
import { openConvexStore } from "./convex-store.ts";

const { CONVEX_URL: url, EXECUTOR_CONVEX_SERVICE_TOKEN: serviceToken } = process.env;

if (url && serviceToken) {
  const open = async () => {
    const connect = () => openConvexStore({ url, serviceToken });
    const store = await connect();
    return { store, reopen: connect, stop: () => store.close() };
  };
  describeStore(`convex deployment at ${url}`, open, { backlog: 100 });
} else {
  test("NOT RUN on a real deployment: set CONVEX_URL and EXECUTOR_CONVEX_SERVICE_TOKEN, then `bun run test:convex`", () => {
    console.warn(
      "deployment.test.ts: no real Convex deployment was tested; write conflicts (OCC) and document sizes stay unproven. Set CONVEX_URL and EXECUTOR_CONVEX_SERVICE_TOKEN.",
    );
    expect(url && serviceToken).toBeFalsy();
  });
}
