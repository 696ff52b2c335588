/** What the type checker says about the code in the editor: asked for when the typing has stopped, and dropped at the next key. */
import { type ExecutorError, isExecutorError } from "@executor/client";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { executor } from "../../api.ts";

export interface Problem {
  /** From 1. */
  line: number;
  column: number;
  message: string;
  hint?: string;
}

const PAUSE_MS = 600;
/** Longer code is checked when it is run. */
const CODE_MAX = 100_000;
const NONE: readonly Problem[] = [];

/** Of exactly this code: while it changes there are none. */
export function useProblems(code: string): readonly Problem[] {
  const settled = useSettled(code);
  const isWorthIt = code.trim() !== "" && code.length <= CODE_MAX;
  const check = useQuery({
    queryKey: ["typecheck", settled],
    // The catalog may change under the same code.
    gcTime: 0,
    retry: false,
    enabled: isWorthIt && settled === code,
    queryFn: ({ signal }) => executor().tools.typecheck(settled, { signal }),
  });
  return settled === code ? (check.data?.diagnostics ?? NONE) : NONE;
}

function useSettled(code: string): string {
  const [settled, setSettled] = useState(code);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(code), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [code]);
  return settled;
}

/** The places that a refused task names; empty when it was refused for something else. */
export function problemsOf(error: unknown): readonly Problem[] {
  if (isExecutorError(error, "task.type_error")) {
    const { diagnostics } = (error.data ?? {}) as { diagnostics?: Problem[] };
    return diagnostics ?? NONE;
  }
  if (!isExecutorError(error, "task.syntax_error")) return NONE;
  const { line, column } = (error.data ?? {}) as { line?: number; column?: number };
  return line === undefined ? NONE : [{ line, column: column ?? 1, message: withoutPlace(error) }];
}

/** The server's text begins with line:column, which is shown apart. */
const withoutPlace = ({ detail }: ExecutorError): string => detail.replace(/^\d+:\d+ /, "");
