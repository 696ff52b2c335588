/** The Convex store against the real functions of convex/, behind a loopback server. What only a deployment shows is in deployment.test.ts. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { AppError } from "@executor/contracts/error";
import { describeStore } from "@executor/testkit/conformance/store";
import { type ConvexStandIn, startConvexStandIn } from "@executor/testkit/convex/convex-stand-in";
import { openConvexStore } from "./convex-store.ts";

const TOKEN = "a service token";

describeStore(
  "convex",
  async () => {
    const standIn = await startConvexStandIn({ serviceToken: TOKEN });
    const connect = () => openConvexStore({ url: standIn.url, serviceToken: TOKEN, subscribe: false });
    const store = await connect();
    const stop = async () => {
      await store.close();
      await standIn.stop();
    };
    return { store, reopen: connect, stop };
  },
  { backlog: 100 },
);
