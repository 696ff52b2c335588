/** One tool: what it does, its types as TypeScript and as JSON Schema, whether it asks; and a way to try it. */
import type { ToolDetail } from "@executor/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Badge } from "../../ui/badge.tsx";
import { buttonLook, IconButton } from "../../ui/button.tsx";
import { CodeView } from "../../ui/code-view.tsx";
import { Icon } from "../../ui/icon.tsx";
import { JsonTree } from "../../ui/json-tree.tsx";
import { ErrorState, Skeleton } from "../../ui/states.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { LongText, Untrusted } from "../../ui/untrusted.tsx";
import { breakSignature } from "./break-signature.ts";
import { toolQuery } from "./queries.ts";

export function ToolPanel({ path, onBack }: { path: string; onBack: () => void }) {
  const query = useQuery(toolQuery(path));
  if (query.isError && !query.data) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton lines={6} label="Loading the tool" />;
  return <Tool tool={query.data} onBack={onBack} />;
}

function Tool({ tool, onBack }: { tool: ToolDetail; onBack: () => void }) {
  const { path, description, signature, approval, effect, inputSchema, outputSchema } = tool;
  return (
    <article aria-label={`Tool ${path}`} className="flex flex-col gap-4 p-4">
      <header className="flex items-start gap-2">
        <IconButton icon="left" label="Back to the tools" className="lg:hidden" onClick={onBack} />
        <div className="min-w-0 flex-1">
          <h2 className="font-mono text-lg">
            <Untrusted text={path} />
          </h2>
          <p className="mt-1 flex flex-wrap gap-2">
            <Badge tone={approval === "auto" ? "ok" : "warn"}>
              {approval === "auto" ? "runs at once" : "asks first"}
            </Badge>
            <Badge>{effect === "safe" ? "only reads" : "changes something"}</Badge>
          </p>
        </div>
        <Link to="/tasks/new" search={{ tool: path }} className={buttonLook("plain")}>
          <Icon name="play" /> Try it
        </Link>
      </header>
      {description !== "" && <LongText text={description} />}
      <Tabs
        label="Types of the tool"
        tabs={[
          {
            id: "typescript",
            label: "TypeScript",
            content: (
              <div className="pt-3">
                <CodeView code={`tools.${path}: ${breakSignature(signature)}`} label="Signature" />
              </div>
            ),
          },
          { id: "input", label: "Input schema", content: <Schema schema={inputSchema} label="Input schema" /> },
          { id: "output", label: "Output schema", content: <Schema schema={outputSchema} label="Output schema" /> },
        ]}
      />
    </article>
  );
}

function Schema({ schema, label }: { schema: Record<string, unknown> | undefined; label: string }) {
  if (schema === undefined || Object.keys(schema).length === 0)
    return <p className="py-3 text-muted">The source does not say.</p>;
  return (
    <div className="pt-3">
      <JsonTree value={schema} label={label} />
    </div>
  );
}
