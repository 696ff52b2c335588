/** What became of the tools when they were last read and differed: came, went, changed. A changed tool asks again. */
import type { Source } from "@executor/client";
import { useQuery } from "@tanstack/react-query";
import { ErrorState, Skeleton } from "../../ui/states.tsx";
import { TimeAgo } from "../../ui/time.tsx";
import { LongText, Untrusted } from "../../ui/untrusted.tsx";
import { changesQuery } from "./queries.ts";

const MAX_SHOWN = 200;

export function Changes({ source: { sourceId, changes } }: { source: Source }) {
  const query = useQuery(changesQuery(sourceId));
  if (query.isError) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton lines={5} label="Loading what changed" />;
  const { added, removed, changed } = query.data;
  if (added.length + removed.length + changed.length === 0)
    return (
      <p className="p-4 text-muted">
        Nothing has changed since it was connected. When it does, it is shown here, and calls of a changed tool ask
        again.
      </p>
    );
  return (
    <div className="mx-auto flex max-w-4xl flex-col gap-4 p-4">
      {changes && (
        <p className="text-muted">
          Found <TimeAgo at={changes.at} />.
        </p>
      )}
      <Paths title="Came" paths={added} />
      <Paths title="Went" paths={removed} />
      {changed.length > 0 && (
        <section aria-label="Changed">
          <h2 className="mb-2 text-base">{`Changed (${changed.length.toLocaleString("en")})`}</h2>
          <ul className="flex flex-col gap-3">
            {changed.slice(0, MAX_SHOWN).map(({ path, before, after }) => (
              <li key={path} className="panel p-3">
                <Untrusted text={path} className="font-mono text-sm font-semibold" />
                {before === after ? (
                  <p className="mt-1 text-sm text-muted">
                    Its description is the same; what it takes or gives differs.
                  </p>
                ) : (
                  <dl className="mt-1 grid gap-x-3 gap-y-1 text-sm sm:grid-cols-[auto_1fr]">
                    <dt className="text-muted">before</dt>
                    <dd className="min-w-0">
                      <LongText text={before} />
                    </dd>
                    <dt className="text-muted">now</dt>
                    <dd className="min-w-0">
                      <LongText text={after} />
                    </dd>
                  </dl>
                )}
              </li>
            ))}
          </ul>
          <More count={changed.length} />
        </section>
      )}
    </div>
  );
}

function Paths({ title, paths }: { title: string; paths: readonly string[] }) {
  if (paths.length === 0) return null;
  return (
    <section aria-label={title}>
      <h2 className="mb-2 text-base">{`${title} (${paths.length.toLocaleString("en")})`}</h2>
      <ul className="panel flex flex-col p-3 font-mono text-sm">
        {paths.slice(0, MAX_SHOWN).map((path) => (
          <li key={path}>
            <Untrusted text={path} />
          </li>
        ))}
      </ul>
      <More count={paths.length} />
    </section>
  );
}

function More({ count }: { count: number }) {
  return count > MAX_SHOWN ? (
    <p className="mt-1 text-sm text-muted">{`and ${(count - MAX_SHOWN).toLocaleString("en")} more`}</p>
  ) : null;
}
