/** What the type checker says about a program before it runs. */
import { z } from "zod";
import { Id } from "./id.ts";

export const TypecheckCode = z
  .strictObject({ workspaceId: Id, code: z.string().min(1).describe("as in a task") })
  .meta({ id: "TypecheckCode" });
export type TypecheckCode = z.infer<typeof TypecheckCode>;

export const Diagnostic = z
  .object({
    line: z.int().describe("of the code, from 1"),
    column: z.int(),
    message: z.string(),
    hint: z.string().optional().describe("what would fit: the nearest tool, the signature"),
  })
  .meta({ id: "Diagnostic" });
export type Diagnostic = z.infer<typeof Diagnostic>;

export const TypecheckResult = z
  .object({
    ok: z.boolean(),
    checked: z.enum(["types", "syntax"]).describe("syntax: the types could not be checked; notes say why"),
    diagnostics: z.array(Diagnostic),
    notes: z.array(z.string()).describe("what was left unchecked"),
  })
  .meta({ id: "TypecheckResult" });
export type TypecheckResult = z.infer<typeof TypecheckResult>;
