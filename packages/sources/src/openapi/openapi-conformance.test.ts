/** The suite of all kinds, on a real API on loopback and through the guard. */
import { describeSourceKind } from "@executor/testkit/conformance/source";
import { createLoopbackFetch } from "@executor/testkit/tools/loopback-fetch";
import { startOpenapiServer } from "@executor/testkit/tools/openapi-server";
import { openapiKind } from "./openapi-kind.ts";

describeSourceKind("openapi", async () => {
  const server = startOpenapiServer();
  return {
    kind: openapiKind,
    definition: { type: "openapi", name: "Pets", spec: `${server.url}/openapi.json` },
    fetch: createLoopbackFetch(),
    probeUrl: `${server.url}/openapi.json`,
    reads: { name: "pets.get_pet", input: { petId: 1 }, result: { id: 1, name: "Rex" } },
    writes: { name: "pets.create_pet", input: { name: "Tom" } },
    fails: { name: "pets.get_pet", input: { petId: 99 } },
    misfit: { name: "pets.get_pet", input: {} },
    echoes: {
      name: "debug.echo",
      input: {},
      auth: (secret) => ({
        parts: [{ in: "header", name: "Authorization", value: `Bearer ${secret}` }],
        secrets: [secret],
      }),
    },
    stop: () => server.stop(),
  };
});
