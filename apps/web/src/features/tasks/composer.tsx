/** Where a task is written: code, what runs it, and off it goes. The draft stays in this browser. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { executor, keys } from "../../api.ts";
import { readSetting, writeSetting } from "../../store.ts";
import { Button } from "../../ui/button.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { Menu } from "../../ui/menu.tsx";
import { ErrorState, Skeleton } from "../../ui/states.tsx";
import { useTitle } from "../shell/title.ts";
import { EXAMPLES } from "./examples.ts";
import { ProblemList } from "./problem-list.tsx";
import { type Problem, problemsOf, useProblems } from "./problems.ts";
import { taskQuery } from "./queries.ts";

const CodeEditor = lazy(async () => ({ default: (await import("./code-editor.tsx")).CodeEditor }));

const DRAFT_MAX = 200_000;

export function Composer() {
  useTitle("New task");
  const { from, tool } = useSearch({ from: "/tasks/new" });
  const earlier = useQuery({ ...taskQuery(from ?? ""), enabled: from !== undefined });
  if (from !== undefined && earlier.isError) return <ErrorState error={earlier.error} />;
  if (from !== undefined && !earlier.data) return <Skeleton lines={6} label="Loading the code" />;
  const initial =
    earlier.data?.code ?? (tool === undefined ? (readSetting("draft") ?? EXAMPLES[0]?.code ?? "") : callOf(tool));
  return <Writing key={`${from}/${tool}`} initial={initial} runtimeId={earlier.data?.runtimeId} />;
}

const callOf = (path: string): string => `return await tools.${path}({\n  \n});\n`;

function Writing({ initial, runtimeId: given }: { initial: string; runtimeId: string | undefined }) {
  const navigate = useNavigate();
  const [begun, setBegun] = useState(initial);
  const [code, setCode] = useState(initial);
  const [runtimeId, setRuntimeId] = useState(given ?? "");
  const [target, setTarget] = useState<{ problem: Problem } | null>(null);
  const checked = useProblems(code);
  const submit = useMutation({
    mutationFn: () => executor().tasks.create({ code, ...(runtimeId !== "" && { runtimeId }) }),
    onSuccess: ({ taskId }) => void navigate({ to: "/tasks/$taskId", params: { taskId } }),
  });
  const run = () => code.trim() !== "" && !submit.isPending && submit.mutate();
  // What a refusal says is about the code as it was sent.
  const refused = problemsOf(submit.error);
  const problems = refused.length > 0 ? refused : checked;
  const write = (next: string) => {
    setCode(next);
    if (submit.isError) submit.reset();
    if (next.length <= DRAFT_MAX) writeSetting("draft", next);
  };
  const examples = EXAMPLES.map(({ name, code: example }) => ({
    label: name,
    run: () => {
      // The same example twice must begin anew, too.
      setBegun(begun === example ? `${example}\n` : example);
      write(example);
    },
  }));
  return (
    <div className="flex h-full flex-col">
      <header className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-3">
        <h1 className="flex-1">New task</h1>
        <Menu items={examples} trigger={<Button>Examples</Button>} />
        <RuntimeChoice value={runtimeId} onChange={setRuntimeId} />
        <Button kind="primary" icon="play" onClick={run} disabled={submit.isPending || code.trim() === ""}>
          Run
        </Button>
      </header>
      {submit.isError && <ErrorState error={submit.error} />}
      <div className="min-h-48 flex-1">
        <Suspense fallback={<Skeleton lines={8} label="Loading the editor" />}>
          <CodeEditor initial={begun} onChange={write} onRun={run} problems={problems} target={target} />
        </Suspense>
      </div>
      <ProblemList problems={problems} onGo={(problem) => setTarget({ problem })} />
      <footer className="flex flex-wrap items-center gap-x-4 gap-y-1 border-t border-line px-4 py-2 text-xs text-muted">
        <span className="flex items-center gap-1">
          <Kbd>Ctrl</Kbd> <Kbd>Enter</Kbd> runs it
        </span>
        <span>
          TypeScript with top-level <code className="font-mono">await</code>; <code className="font-mono">return</code>{" "}
          a JSON value. Only <code className="font-mono">tools.*</code> can be reached.
        </span>
      </footer>
    </div>
  );
}

function RuntimeChoice({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const runtimes = useQuery({
    queryKey: keys.runtimes,
    queryFn: ({ signal }) => executor().runtimes.list({ signal }),
  });
  const items = runtimes.data?.items ?? [];
  return (
    <label className="flex items-center gap-2 text-sm text-muted">
      Runtime
      <select
        className="min-h-8 rounded-md border border-line-strong bg-surface px-2 text-fg"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      >
        <option value="">default</option>
        {items.map(({ id, label, available, reason }) => (
          <option key={id} value={id} disabled={!available} title={reason}>
            {available ? label : `${label} (not available)`}
          </option>
        ))}
      </select>
    </label>
  );
}
