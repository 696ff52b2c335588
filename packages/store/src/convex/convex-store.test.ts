/** The Convex store against the real functions of convex/, behind a loopback server. What only a deployment shows is in deployment.test.ts. */
import { describe, expect, test } from "bun:test";
import { AppError } from "@executor/contracts/error";
import type { Store } from "@executor/core/ports/store";
import { describeStore } from "@executor/testkit/conformance/store";
import { inWorld, refusal, type World } from "@executor/testkit/conformance/store/world";
import { type ConvexStandIn, startConvexStandIn } from "@executor/testkit/convex/convex-stand-in";
import { openConvexStore } from "./convex-store.ts";

const TOKEN = "a service token";

async function open() {
  const standIn = await startConvexStandIn({ serviceToken: TOKEN });
  const connect = () => openConvexStore({ url: standIn.url, serviceToken: TOKEN, subscribe: false });
  const store = await connect();
  const stop = async () => {
    await store.close();
    await standIn.stop();
  };
  return { standIn, store, reopen: connect, stop };
}

describeStore("convex", open);

describe("the service token", () => {
  const readWith = async (expected: string | null, given: string) => {
    const standIn = await startConvexStandIn({ serviceToken: expected });
    const store = await openConvexStore({ url: standIn.url, serviceToken: given });
    try {
      await store.readWorkspace({ workspaceId: "ws_1" });
    } finally {
      await store.close();
      await standIn.stop();
    }
  };

  test("lets its holder in", () => readWith(TOKEN, TOKEN));

  for (const wrong of ["", "a service tokem", "a service", `${TOKEN}${TOKEN}`, `${TOKEN} `]) {
    test(`refuses "${wrong}"`, async () => {
      const error = await refusal(readWith(TOKEN, wrong), "store.unavailable");
      expect(error.detail).toContain("refused the service token");
    });
  }

  test("refuses everybody while the deployment has none, also those who send none", async () => {
    for (const given of ["", TOKEN, "undefined"])
      expect((await refusal(readWith(null, given), "store.unavailable")).detail).toContain(
        "has no EXECUTOR_SERVICE_TOKEN",
      );
    expect((await refusal(readWith("", ""), "store.unavailable")).detail).toContain("has no EXECUTOR_SERVICE_TOKEN");
  });

  test("is asked for by every function", async () => {
    const { standIn, stop } = await open();
    const store = await openConvexStore({ url: standIn.url, serviceToken: "wrong", subscribe: false });
    const verbs = Object.entries(store).filter(
      ([name, value]) => typeof value === "function" && !["watch", "close"].includes(name),
    ) as [string, (args: unknown) => Promise<unknown>][];
    expect(verbs.length).toBeGreaterThan(30);
    for (const [, verb] of verbs) await refusal(verb({ task: {} }), "store.unavailable");
    await stop();
  });
});

describe("requests without a proper answer", () => {
  const conflict = () =>
    Response.json({ code: "OptimisticConcurrencyControlFailure", message: "changed" }, { status: 503 });
  const broken = () => Response.json({ code: "InternalServerError", message: "try again" }, { status: 500 });

  function withStandIn(body: (world: World, standIn: ConvexStandIn) => Promise<void>): () => Promise<void> {
    let standIn: ConvexStandIn | undefined;
    const opened = async () => {
      const all = await open();
      standIn = all.standIn;
      return all;
    };
    return inWorld(opened, (world) => body(world, standIn as ConvexStandIn));
  }
  const sends = async (standIn: ConvexStandIn, work: () => Promise<unknown>) => {
    const before = standIn.requestCount();
    await work();
    return standIn.requestCount() - before;
  };

  test(
    "a write that lost against another is sent again, for nothing of it was kept",
    withStandIn(async (world, standIn) => {
      standIn.failNext(conflict, 2);
      expect(await sends(standIn, () => world.create())).toBe(3);
    }),
  );

  test(
    "a write that may have been carried out is not sent again, and says so",
    withStandIn(async (world, standIn) => {
      standIn.failNext(broken);
      const count = await sends(standIn, async () => {
        const error = await refusal(world.create(), "store.unavailable");
        expect(error.detail).toContain("not known whether createTask was carried out");
      });
      expect(count).toBe(1);
    }),
  );

  test(
    "unless sending it twice is the same as sending it once",
    withStandIn(async (world, standIn) => {
      standIn.failNext(broken);
      expect(await sends(standIn, () => world.create({ idempotencyKey: "k" }))).toBe(2);
      const fence = await world.running();
      standIn.failNext(broken);
      expect(await sends(standIn, () => world.settle(fence))).toBe(2);
    }),
  );

  test(
    "a read is sent again",
    withStandIn(async (world, standIn) => {
      standIn.failNext(broken, 2);
      expect(await sends(standIn, () => world.audit())).toBe(3);
    }),
  );

  test(
    "what Convex refuses as wrong is not sent again",
    withStandIn(async (world, standIn) => {
      standIn.failNext(() => Response.json({ code: "BadRequest", message: "no" }, { status: 400 }));
      expect(await sends(standIn, () => refusal(world.audit(), "store.unavailable"))).toBe(1);
    }),
  );

  test("a deployment that cannot be reached is store.unavailable, and nothing was changed", async () => {
    const { standIn, store, stop } = await open();
    await standIn.stop();
    const started = performance.now();
    const error = await refusal(touch(store), "store.unavailable");
    expect(error.detail).toContain("Nothing was changed");
    expect(performance.now() - started).toBeGreaterThan(1_000);
    await stop();
  });

  test("a write waits for a deployment that comes back", async () => {
    const first = await startConvexStandIn({ serviceToken: TOKEN });
    await first.stop();
    const store = await openConvexStore({ url: first.url, serviceToken: TOKEN, subscribe: false });
    const touched = touch(store);
    await Bun.sleep(60);
    const second = await startConvexStandIn({ serviceToken: TOKEN, port: Number(new URL(first.url).port) });
    await touched;
    await store.close();
    await second.stop();
  });

  test("a closed store is store.unavailable", async () => {
    const { store, stop } = await open();
    await store.close();
    await refusal(touch(store), "store.unavailable");
    await stop();
  });

  test("an error that is none of ours stays an error that is none of ours", async () => {
    const { store, stop } = await open();
    const error = await store.createTask({ task: {} as never, now: 1 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(AppError);
    await stop();
  });
});

const touch = (store: Store) =>
  store
    .createPolicy({ policy: { policyId: "p", workspaceId: "none" } as never, by: { actorId: "a", clientId: "c" } })
    .catch(ignoreFunctionErrors);

/** The workspace is not there; whether the function was reached is what counts. */
function ignoreFunctionErrors(error: unknown): void {
  if (error instanceof AppError) throw error;
}
