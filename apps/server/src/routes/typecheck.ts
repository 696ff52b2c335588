/** Checking code without running it, and the types it is checked against, for editors. */
import type { Diagnostic } from "@executor/contracts/typecheck";
import guestGlobals from "@executor/typecheck/guest-globals.txt" with { type: "text" };
import type { AppDeps } from "../deps.ts";
import type { HandlersOf } from "../http/route-types.ts";
import { checkCodeSize } from "../tasks/submit-task.ts";
import { openToolView } from "../tools/open-view.ts";
import { declareAll } from "../typecheck/declare-tools.ts";
import { typecheckCode } from "../typecheck/typecheck-code.ts";

/** An editor could not do anything with more. */
const MAX_TYPES_LENGTH = 30_000_000;

export function typecheckRoutes(deps: AppDeps): HandlersOf<"toolTypes" | "typecheck"> {
  return {
    async toolTypes({ caller, query }) {
      const parts = [guestGlobals];
      let length = guestGlobals.length;
      for await (const part of declareAll(await openToolView(deps, caller), query.namespace)) {
        length += part.length;
        if (length > MAX_TYPES_LENGTH) {
          parts.push(
            "  // More tools than fit: ask for one namespace (?namespace=…).\n  readonly [namespace: string]: any;\n};\n",
          );
          break;
        }
        parts.push(part);
      }
      return new Response(parts.join(""), { headers: { "content-type": "text/plain; charset=utf-8" } });
    },

    async typecheck({ caller, body }) {
      checkCodeSize(deps, body.code);
      const syntax = await deps.transpile(body.code);
      if (!syntax.ok) {
        const { line, column, message } = syntax;
        const diagnostics: Diagnostic[] = [{ line, column, message }];
        return { status: 200, body: { ok: false, checked: "syntax", diagnostics, notes: [] } };
      }
      return { status: 200, body: await typecheckCode(deps, await openToolView(deps, caller), body.code) };
    },
  };
}
