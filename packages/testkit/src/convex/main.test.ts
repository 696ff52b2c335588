/** The stand-in as a process, with stores in other processes: how e2e uses it. */
import { expect, test } from "bun:test";
import { openConvexStore } from "@executor/store/convex/convex-store";

const TOKEN = "a service token";

async function startProcess() {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/main.ts`], {
    env: { ...process.env, EXECUTOR_SERVICE_TOKEN: TOKEN },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { value } = await child.stdout.getReader().read();
  const { url } = JSON.parse(new TextDecoder().decode(value)) as { url: string };
  return { child, url };
}

test("it prints its address, serves stores and ends when told", async () => {
  const { child, url } = await startProcess();
  const store = await openConvexStore({ url, serviceToken: TOKEN, subscribe: false });
  expect(await store.readWorkspace({ workspaceId: "ws_1" })).toBeNull();
  await store.close();
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
});

test("a process that watches without a WebSocket says nothing about it, and ends when it closes the store", async () => {
  const { child, url } = await startProcess();
  const program = `
    const { openConvexStore } = await import("@executor/store/convex/convex-store");
    const store = await openConvexStore({ url: ${JSON.stringify(url)}, serviceToken: ${JSON.stringify(TOKEN)} });
    store.watch(() => {});
    await Bun.sleep(700);
    await store.close();`;
  const watcher = Bun.spawn([process.execPath, "-e", program], {
    cwd: import.meta.dir,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err, code] = await Promise.all([
    new Response(watcher.stdout).text(),
    new Response(watcher.stderr).text(),
    watcher.exited,
  ]);
  expect([out, err, code]).toEqual(["", "", 0]);
  child.kill("SIGTERM");
  await child.exited;
});
