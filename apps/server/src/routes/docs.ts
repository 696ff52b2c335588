/** The API about itself. Both are made once, when first asked for. */
import type { AppDeps } from "../deps.ts";
import { buildDocsPage, DOCS_POLICY } from "../docs-page.ts";
import type { HandlersOf } from "../http/route-types.ts";
import { buildOpenApi, type Json } from "../openapi.ts";

export function docsRoutes({ version }: AppDeps): HandlersOf<"openapi" | "docs"> {
  let document: Json | undefined;
  let page: string | undefined;
  return {
    async openapi() {
      document ??= buildOpenApi(version);
      return { status: 200, body: document };
    },
    async docs() {
      page ??= buildDocsPage((document ??= buildOpenApi(version)));
      return new Response(page, {
        headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": DOCS_POLICY },
      });
    },
  };
}
