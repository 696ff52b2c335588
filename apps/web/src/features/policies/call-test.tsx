/** What would happen to a call: which rule decides, and why. Nothing is called. */
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { executor, explain } from "../../api.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { TextArea, TextField } from "../../ui/field.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";
import { DECISIONS } from "./rule-form.ts";

export function CallTest({ onDecided }: { onDecided: (policyId: string | null) => void }) {
  const [toolPath, setToolPath] = useState("");
  const [actorId, setActorId] = useState("");
  const [input, setInput] = useState("");
  const parsed = readInput(input);
  const test = useMutation({
    mutationFn: () =>
      executor().policies.test({
        toolPath: toolPath.trim(),
        ...(actorId.trim() !== "" && { actorId: actorId.trim() }),
        ...(parsed.ok && parsed.value !== undefined && { input: parsed.value }),
      }),
    onSuccess: ({ policyId }) => onDecided(policyId ?? null),
  });
  const run = (event: FormEvent) => {
    event.preventDefault();
    if (toolPath.trim() !== "" && parsed.ok) test.mutate();
  };
  return (
    <section aria-labelledby="call-test" className="panel self-start p-4 lg:sticky lg:top-4">
      <h2 id="call-test" className="mb-3 text-base">
        Test a call
      </h2>
      <form onSubmit={run} className="flex flex-col gap-3" noValidate>
        <TextField
          label="Tool"
          placeholder="github.issues.create"
          className="font-mono"
          autoComplete="off"
          spellCheck={false}
          value={toolPath}
          onChange={({ target }) => setToolPath(target.value)}
        />
        <TextField
          label="Actor"
          placeholder="you"
          className="font-mono"
          value={actorId}
          onChange={({ target }) => setActorId(target.value)}
        />
        <TextArea
          label="Input"
          placeholder='{"owner": "me"}'
          className="font-mono"
          spellCheck={false}
          value={input}
          onChange={({ target }) => setInput(target.value)}
          problem={parsed.ok ? null : "This is no JSON."}
        />
        <Button type="submit" className="self-start" disabled={test.isPending || toolPath.trim() === "" || !parsed.ok}>
          Test
        </Button>
      </form>
      <div aria-live="polite" className="mt-3">
        {test.isError && (
          <p className="text-bad">
            <Untrusted text={explain(test.error)} />
          </p>
        )}
        {test.data && (
          <div className="flex flex-col gap-1 border-t border-line pt-3">
            <p>
              <Badge tone={DECISIONS[test.data.decision].tone}>{DECISIONS[test.data.decision].label}</Badge>{" "}
              <Untrusted text={test.data.why} />
            </p>
            {!test.data.toolFound && (
              <p className="text-sm text-warn">There is no such tool now; the rules count all the same.</p>
            )}
            {test.data.matched.length > 1 && (
              <p className="text-sm text-muted">{`${test.data.matched.length} rules match; the marked one decides.`}</p>
            )}
          </div>
        )}
      </div>
    </section>
  );
}

function readInput(text: string): { ok: true; value: unknown } | { ok: false } {
  if (text.trim() === "") return { ok: true, value: undefined };
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { ok: false };
  }
}
