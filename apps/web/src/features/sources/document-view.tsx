/** The document of a source as it came: read only when somebody looks, a piece of it at a time. */
import { useQuery } from "@tanstack/react-query";
import { CopyButton } from "../../ui/code-view.tsx";
import { ErrorState, Skeleton } from "../../ui/states.tsx";
import { LongText } from "../../ui/untrusted.tsx";
import { documentQuery } from "./queries.ts";

export function DocumentView({ sourceId }: { sourceId: string }) {
  const query = useQuery(documentQuery(sourceId));
  if (query.isError) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton lines={8} label="Loading the document" />;
  const { contentType, text } = query.data;
  return (
    <div className="flex flex-col gap-2 p-4">
      <p className="flex items-center gap-3 text-sm text-muted">
        <span>{contentType}</span>
        <span className="tabular-nums">{`${text.length.toLocaleString("en")} characters`}</span>
        <CopyButton text={text} label="Copy the document" />
      </p>
      <pre tabIndex={0} aria-label="Document" className="panel overflow-x-auto p-3 font-mono text-sm">
        <LongText text={text} />
      </pre>
    </div>
  );
}
