/**
 * A process that needs the keys of an installation at the same moment as others: `<home> <database> <workspace>`.
 * Prints what it sealed; whoever started it opens that with a key of its own.
 */
import { openSqliteStore } from "@executor/store/sqlite/sqlite-store";
import { createProviders, readVaultSettings } from "@executor/vault/create-providers";

const [home = "", path = "", workspaceId = ""] = process.argv.slice(2);
const store = await openSqliteStore({ path });
const vault = createProviders({
  home,
  settings: readVaultSettings({}),
  environment: {},
  store,
  fetch: () => Promise.reject(new Error("nothing is fetched here")),
  now: () => Date.now(),
  warn: () => undefined,
});
// Starts together with the others: all wait for the same moment.
const startAt = Number(process.argv[5] ?? 0);
while (Date.now() < startAt) await Bun.sleep(1);
console.log(await vault.sealer.seal(workspaceId, "race", "1", `from ${process.pid}`));
await store.close();
