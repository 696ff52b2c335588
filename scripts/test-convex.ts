/**
 * Runs the store's conformance suite against a real Convex deployment: what convex-test cannot show (OCC, limits, the push).
 * Asked for by hand, never part of `npm test`; it writes into the deployment it is given.
 */
const TEST_FILE = "./packages/store/src/convex/deployment.test.ts";
const NEEDED = {
  CONVEX_URL: "the URL of the deployment, as `bunx convex dev` prints it",
  EXECUTOR_CONVEX_SERVICE_TOKEN: "the service token that is set in the deployment's environment",
};

const missing = Object.entries(NEEDED).filter(([name]) => !process.env[name]);
if (missing.length > 0) {
  console.error("test:convex needs a real Convex deployment, and was NOT run. Set:");
  for (const [name, what] of missing) console.error(`  ${name}  ${what}`);
  process.exit(1);
}

const tests = Bun.spawn([process.execPath, "test", "--isolate", "--timeout", "60000", TEST_FILE], {
  cwd: `${import.meta.dir}/..`,
  stdio: ["ignore", "inherit", "inherit"],
});
process.exit(await tests.exited);
