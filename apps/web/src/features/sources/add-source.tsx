/** Adding a source: paste an address, see what was found there, confirm how it is used, connect. Nothing is kept before the last step. */
import { isExecutorError, type ProbeResult } from "@executor/client";
import { useMutation } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { executor, explain, keys, queryClient } from "../../api.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, buttonLook } from "../../ui/button.tsx";
import { TextArea, TextField } from "../../ui/field.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";
import { useMe } from "../shell/role.ts";
import { useTitle } from "../shell/title.ts";
import { TYPES } from "./health.tsx";
import { sourceQuery } from "./queries.ts";
import { SourceFields } from "./source-fields.tsx";
import { TEMPLATES } from "./templates.ts";
import { emptyForm, formFromProbe, problemsOf, type SourceForm, toDefinition } from "./to-definition.ts";

export function AddSource() {
  useTitle("Add a source");
  const [draft, setDraft] = useState<{ form: SourceForm; probe: ProbeResult | null } | null>(null);
  return (
    <div className="mx-auto flex max-w-3xl flex-col gap-5 p-4">
      <header className="flex items-center gap-2">
        <Link to="/sources" aria-label="All sources" className={buttonLook("quiet", "w-8 px-0")}>
          <Icon name="left" />
        </Link>
        <h1>Add a source</h1>
      </header>
      {draft === null ? (
        <Find onFound={(form, probe) => setDraft({ form, probe })} />
      ) : (
        <Review key={draft.form.url + draft.form.spec} draft={draft} onBack={() => setDraft(null)} />
      )}
    </div>
  );
}

function Find({ onFound }: { onFound: (form: SourceForm, probe: ProbeResult | null) => void }) {
  const [url, setUrl] = useState("");
  const mayReachMachine = useMe()?.installationAdmin === true;
  const probe = useMutation({
    mutationFn: (address: string) => executor().sources.probe(address),
    onSuccess: (found) => {
      if (found.type !== undefined) onFound(formFromProbe(found), found);
    },
  });
  const look = (event: FormEvent) => {
    event.preventDefault();
    if (url.trim() !== "") probe.mutate(url.trim());
  };
  const nothing = probe.data !== undefined && probe.data.type === undefined;
  return (
    <>
      <form onSubmit={look} className="panel flex flex-col gap-3 p-4">
        <TextField
          label="Address"
          placeholder="https://api.example.com/openapi.json"
          hint="Of an OpenAPI or Swagger document, a GraphQL endpoint, or an MCP server. It is only looked at."
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          autoFocus
          value={url}
          onChange={({ target }) => setUrl(target.value)}
          problem={
            probe.isError
              ? explain(probe.error)
              : nothing
                ? (probe.data?.warnings[0] ??
                  "No kind of source was recognised there. Choose one below and describe it yourself.")
                : null
          }
        />
        <Button kind="primary" type="submit" className="self-start" disabled={probe.isPending || url.trim() === ""}>
          {probe.isPending ? "Looking …" : "Look what is there"}
        </Button>
      </form>
      <ByHand url={url} mayReachMachine={mayReachMachine} onChosen={(form) => onFound(form, null)} />
      <Templates onChosen={(form) => onFound(form, null)} />
    </>
  );
}

interface ByHandProps {
  url: string;
  mayReachMachine: boolean;
  onChosen: (form: SourceForm) => void;
}

function ByHand({ url, mayReachMachine, onChosen }: ByHandProps) {
  const [text, setText] = useState<string | null>(null);
  if (text !== null)
    return (
      <form
        className="panel flex flex-col gap-3 p-4"
        onSubmit={(event) => {
          event.preventDefault();
          onChosen({ ...emptyForm, spec: text.endsWith("\n") ? text : `${text}\n` });
        }}
      >
        <TextArea
          label="The document"
          hint="OpenAPI or Swagger, as JSON or YAML."
          rows={10}
          className="font-mono"
          spellCheck={false}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <span className="flex gap-2">
          <Button kind="primary" type="submit" disabled={text.trim() === ""}>
            Go on
          </Button>
          <Button onClick={() => setText(null)}>Back</Button>
        </span>
      </form>
    );
  return (
    <div className="flex flex-wrap items-center gap-2 text-sm">
      <span className="text-muted">Or describe it yourself:</span>
      <Button onClick={() => setText("")}>Paste a document</Button>
      <Button onClick={() => onChosen({ ...emptyForm, type: "mcp", url })}>MCP server</Button>
      <Button onClick={() => onChosen({ ...emptyForm, type: "graphql", url })}>GraphQL endpoint</Button>
      {mayReachMachine && (
        <Button onClick={() => onChosen({ ...emptyForm, type: "mcp", command: "npx -y " })}>MCP command</Button>
      )}
    </div>
  );
}

function Templates({ onChosen }: { onChosen: (form: SourceForm) => void }) {
  return (
    <section aria-labelledby="templates" className="flex flex-col gap-3">
      <h2 id="templates" className="text-base">
        Well-known ones
      </h2>
      <ul className="grid gap-2 sm:grid-cols-2 lg:grid-cols-3">
        {TEMPLATES.map(({ title, about, form }) => (
          <li key={title}>
            <button
              type="button"
              onClick={() => onChosen(form)}
              className="panel flex h-full w-full flex-col items-start gap-0.5 p-3 text-left hover:border-line-strong"
            >
              <span className="flex w-full items-center justify-between gap-2 font-medium">
                {title} <Badge>{TYPES[form.type]}</Badge>
              </span>
              <span className="text-sm text-muted">{about}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface ReviewProps {
  draft: { form: SourceForm; probe: ProbeResult | null };
  onBack: () => void;
}

function Review({ draft, onBack }: ReviewProps) {
  const navigate = useNavigate();
  const [form, setForm] = useState(draft.form);
  const [isTried, setTried] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const connect = useMutation({
    mutationFn: () => executor().sources.add(toDefinition(form)),
    onSuccess: (source) => {
      queryClient.setQueryData(sourceQuery(source.sourceId).queryKey, source);
      void queryClient.invalidateQueries({ queryKey: keys.sources });
      void navigate({ to: "/sources/$sourceId", params: { sourceId: source.sourceId } });
    },
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (Object.keys(problemsOf(form)).length === 0) connect.mutate();
  };
  return (
    <form onSubmit={send} className="flex flex-col gap-4" noValidate>
      {draft.probe && <Found probe={draft.probe} />}
      <section className="panel flex flex-col gap-4 p-4">
        <h2 ref={heading} tabIndex={-1} className="flex items-center gap-2 outline-none">
          How it is used <Badge>{TYPES[form.type]}</Badge>
        </h2>
        <SourceFields
          form={form}
          onChange={(change) => setForm((old) => ({ ...old, ...change }))}
          showProblems={isTried}
          isNew
        />
      </section>
      {connect.isError && <Refused error={connect.error} />}
      <span className="flex gap-2">
        <Button kind="primary" type="submit" disabled={connect.isPending}>
          {connect.isPending ? "Connecting …" : "Connect"}
        </Button>
        <Button onClick={onBack}>Back</Button>
      </span>
    </form>
  );
}

function Found({ probe }: { probe: ProbeResult }) {
  const { type, name, confidence, toolCount, auth, transport, warnings } = probe;
  return (
    <section aria-label="What was found" className="rounded-lg bg-ok-soft p-4">
      <p className="font-semibold text-ok">
        <Untrusted text={name} /> {type && `looks like ${type === "openapi" ? "an OpenAPI document" : TYPES[type]}`}
        {confidence < 0.7 && " (not quite certain)"}
      </p>
      <ul className="mt-1 flex flex-wrap gap-x-4 gap-y-1 text-sm text-muted">
        {toolCount !== undefined && <li>{`${toolCount.toLocaleString("en")} tools`}</li>}
        {transport !== undefined && <li>{transport}</li>}
        <li>
          <Untrusted text={auth.required ? `wants a credential: ${auth.detail}` : auth.detail} />
        </li>
      </ul>
      {warnings.length > 0 && (
        <ul className="mt-2 list-disc pl-5 text-sm text-warn">
          {warnings.slice(0, 5).map((warning) => (
            <li key={warning}>
              <Untrusted text={warning} />
            </li>
          ))}
          {warnings.length > 5 && <li>{`and ${warnings.length - 5} more`}</li>}
        </ul>
      )}
    </section>
  );
}

function Refused({ error }: { error: unknown }) {
  const isTaken = isExecutorError(error, "source.conflict");
  return (
    <p role="alert" className="rounded-lg bg-bad-soft p-3 text-bad">
      <Untrusted text={explain(error)} />
      {isTaken && " The namespace stands above."}
    </p>
  );
}
