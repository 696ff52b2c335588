/** The audit log, newest first: a page as JSON, or all of it as NDJSON, read from the store while the client takes it. */
import type { Row } from "@executor/core/store/tables";
import type { AppDeps } from "../deps.ts";
import { DEFAULT_PAGE, NumberMark, readCursor, toPage } from "../http/pages.ts";
import type { HandlersOf } from "../http/route-types.ts";
import { presentAudit } from "../present/present-audit.ts";

const EXPORT_PAGE = 500;

export function auditRoutes({ store }: AppDeps): HandlersOf<"listAudit"> {
  return {
    async listAudit({ caller, query }) {
      const beforeSeq = readCursor(NumberMark, query.cursor);
      const read = (before: number | null, limit: number) =>
        store.listAudit({
          workspaceId: caller.workspaceId,
          action: query.action ?? null,
          actorId: query.actorId ?? null,
          since: query.since === undefined ? null : Date.parse(query.since),
          beforeSeq: before,
          limit,
        });
      if (query.format === "ndjson") return exportAll(read, beforeSeq, query.limit ?? Number.POSITIVE_INFINITY);
      const limit = query.limit ?? DEFAULT_PAGE;
      return { status: 200, body: toPage(await read(beforeSeq, limit + 1), limit, presentAudit, ({ seq }) => seq) };
    },
  };
}

type Read = (before: number | null, limit: number) => Promise<Row<"audit">[]>;

function exportAll(read: Read, beforeSeq: number | null, limit: number): Response {
  const encoder = new TextEncoder();
  let before = beforeSeq;
  let rest = limit;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const asked = Math.min(EXPORT_PAGE, rest);
        const rows = asked > 0 ? await read(before, asked) : [];
        if (rows.length > 0)
          controller.enqueue(encoder.encode(rows.map((row) => `${JSON.stringify(presentAudit(row))}\n`).join("")));
        before = rows.at(-1)?.seq ?? before;
        rest -= rows.length;
        if (rows.length < asked || rest <= 0) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: {
      "content-type": "application/x-ndjson",
      "content-disposition": 'attachment; filename="executor-audit.ndjson"',
    },
  });
}
