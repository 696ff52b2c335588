/** Changing what may change of a source: its name, where requests go, what asks, how calls sign in. */
import type { Source, UpdateSource } from "@executor/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { executor, explain, keys, queryClient } from "../../api.ts";
import { Button, buttonLook } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { ErrorState, Skeleton } from "../../ui/states.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";
import { useTitle } from "../shell/title.ts";
import { sourceQuery } from "./queries.ts";
import { SourceFields } from "./source-fields.tsx";
import { formFromSource, problemsOf, type SourceForm, toAuth } from "./to-definition.ts";

export function EditSource() {
  useTitle("Settings of a source");
  const { sourceId } = useParams({ from: "/sources/$sourceId/edit" });
  const query = useQuery(sourceQuery(sourceId));
  if (query.isError && !query.data) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton lines={8} label="Loading the source" />;
  return <Settings source={query.data} />;
}

function Settings({ source }: { source: Source }) {
  const { sourceId } = source;
  const navigate = useNavigate();
  const [form, setForm] = useState(() => formFromSource(source));
  const [isTried, setTried] = useState(false);
  const back = () => void navigate({ to: "/sources/$sourceId", params: { sourceId } });
  const save = useMutation({
    mutationFn: () => executor().sources.update(sourceId, changesOf(source, form)),
    onSuccess: (changed) => {
      queryClient.setQueryData(sourceQuery(sourceId).queryKey, changed);
      void queryClient.invalidateQueries({ queryKey: keys.sources });
      void queryClient.invalidateQueries({ queryKey: keys.tools });
      back();
    },
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    const { spec: _s, url: _u, ...problems } = problemsOf(form);
    if (Object.keys(problems).length === 0) save.mutate();
  };
  return (
    <form onSubmit={send} className="mx-auto flex max-w-3xl flex-col gap-4 p-4" noValidate>
      <header className="flex items-center gap-2">
        <Link
          to="/sources/$sourceId"
          params={{ sourceId }}
          aria-label="Back to the source"
          className={buttonLook("quiet", "w-8 px-0")}
        >
          <Icon name="left" />
        </Link>
        <h1>
          Settings of <Untrusted text={source.name} />
        </h1>
      </header>
      <section className="panel p-4">
        <SourceFields
          form={form}
          onChange={(change) => setForm((old) => ({ ...old, ...change }))}
          showProblems={isTried}
          isNew={false}
        />
      </section>
      {save.isError && (
        <p role="alert" className="rounded-lg bg-bad-soft p-3 text-bad">
          <Untrusted text={explain(save.error)} />
        </p>
      )}
      <span className="flex gap-2">
        <Button kind="primary" type="submit" disabled={save.isPending}>
          {save.isPending ? "Saving …" : "Save"}
        </Button>
        <Button onClick={back}>Back</Button>
      </span>
    </form>
  );
}

/** Only what is different: a static secret, which nobody sees, stays unless its place is changed. */
function changesOf(source: Source, form: SourceForm): Omit<UpdateSource, "workspaceId"> {
  const before = formFromSource(source);
  const isNew = (...names: (keyof SourceForm)[]): boolean => names.some((name) => form[name] !== before[name]);
  return {
    ...(isNew("name") && { name: form.name.trim() }),
    ...(isNew("baseUrl") && { baseUrl: form.baseUrl.trim() === "" ? null : form.baseUrl.trim() }),
    ...(isNew("reads") && { defaultReadApproval: form.reads === "default" ? null : form.reads }),
    ...(isNew("writes") && { defaultWriteApproval: form.writes === "default" ? null : form.writes }),
    ...(isNew("reads", "writes") && source.defaultApproval !== undefined && { defaultApproval: null }),
    ...(isNew("authType", "authMode", "keyPlace", "keyName", "clientId", "scopes") && { auth: toAuth(form) ?? null }),
  };
}
