/** Sources of tools: connect, look at, change, disconnect. They are read in the background; a failing one stays in sight. */
import type { AppDeps } from "../deps.ts";
import { actorOf, type Bearer } from "../http/authenticate.ts";
import type { HandlersOf } from "../http/route-types.ts";
import { presentSource } from "../present/present-source.ts";

type Names =
  | "listSources"
  | "createSource"
  | "probeSource"
  | "readSource"
  | "updateSource"
  | "deleteSource"
  | "refreshSource"
  | "readSourceDocument"
  | "readSourceChanges";

export function sourceRoutes({ sources }: AppDeps): HandlersOf<Names> {
  return {
    async listSources({ caller }) {
      const rows = await sources.service.list(caller.workspaceId);
      return { status: 200, body: { items: rows.map(presentSource) } };
    },

    async createSource({ caller, body }) {
      const { workspaceId: _, ...definition } = body;
      const mayReachMachine = caller.installationAdmin;
      const row = await sources.service.add(definition, { ...where(caller), mayReachMachine });
      const headers = { location: `/api/tool-sources/${row.sourceId}` };
      return { status: 201, body: presentSource(row), headers };
    },

    async probeSource({ body }) {
      return { status: 200, body: await sources.service.probe(body.url) };
    },

    async readSource({ caller, param }) {
      return { status: 200, body: presentSource(await sources.service.read(param("sourceId"), caller.workspaceId)) };
    },

    async updateSource({ caller, param, body }) {
      const { workspaceId: _, ...changes } = body;
      return {
        status: 200,
        body: presentSource(await sources.service.update(param("sourceId"), changes, where(caller))),
      };
    },

    async deleteSource({ caller, param }) {
      await sources.service.remove(param("sourceId"), where(caller));
      return { status: 204 };
    },

    async refreshSource({ caller, param }) {
      const row = await sources.service.refresh(param("sourceId"), caller.workspaceId);
      return { status: 202, body: presentSource(row) };
    },

    async readSourceDocument({ caller, param }) {
      return { status: 200, body: await sources.service.document(param("sourceId"), caller.workspaceId) };
    },

    async readSourceChanges({ caller, param }) {
      return { status: 200, body: await sources.service.changes(param("sourceId"), caller.workspaceId) };
    },
  };
}

const where = (caller: Bearer) => ({ workspaceId: caller.workspaceId, by: actorOf(caller) });
