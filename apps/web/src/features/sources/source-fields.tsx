/** The fields of a source, for adding and for changing one. What may never change is shown and cannot be written. */
import { Select, TextArea, TextField } from "../../ui/field.tsx";
import { problemsOf, type SourceForm } from "./to-definition.ts";

export interface FieldsProps {
  form: SourceForm;
  onChange: (change: Partial<SourceForm>) => void;
  /** Shown only after somebody tried to send it. */
  showProblems: boolean;
  isNew: boolean;
}

export function SourceFields({ form, onChange, showProblems, isNew }: FieldsProps) {
  const problems = showProblems ? problemsOf(form) : {};
  const set = (name: keyof SourceForm) => ({
    value: form[name],
    problem: problems[name] ?? null,
    onChange: ({ target }: { target: { value: string } }) => onChange({ [name]: target.value }),
  });
  return (
    <div className="flex flex-col gap-4">
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label="Name" maxLength={100} {...set("name")} />
        {isNew ? (
          <TextField
            label="Namespace"
            placeholder="made from the name"
            hint={<>The root of its tools, {`tools.${form.namespace || "…"}`}. It never changes.</>}
            className="font-mono"
            {...set("namespace")}
          />
        ) : (
          <TextField label="Namespace" value={form.namespace} className="font-mono" disabled hint="It never changes." />
        )}
      </div>
      {isNew && <Address form={form} set={set} />}
      {form.type === "openapi" && (
        <TextField
          label="Base URL"
          placeholder="as the document says"
          hint="Where requests go. Set it when the document names no server, or not the one you use."
          inputMode="url"
          {...set("baseUrl")}
        />
      )}
      <Approvals set={set} />
      <Auth form={form} set={set} />
    </div>
  );
}

type Set = (name: keyof SourceForm) => {
  value: string;
  problem: string | null;
  onChange: (event: { target: { value: string } }) => void;
};

function Address({ form, set }: { form: SourceForm; set: Set }) {
  if (form.type === "openapi")
    return form.spec.includes("\n") ? (
      <TextArea label="Document" rows={8} className="font-mono" spellCheck={false} {...set("spec")} />
    ) : (
      <TextField label="Document" inputMode="url" hint="The address of the document." {...set("spec")} />
    );
  if (form.command !== "")
    return (
      <TextField
        label="Command"
        className="font-mono"
        hint="Runs on the machine of the server, with nothing of its environment. Installation admins only."
        {...set("command")}
      />
    );
  return (
    <TextField label={form.type === "mcp" ? "Address of the server" : "Endpoint"} inputMode="url" {...set("url")} />
  );
}

function Approvals({ set }: { set: Set }) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Select label="Calls that only read" hint="Policies can say otherwise for single tools." {...set("reads")}>
        <option value="default">as the source says (usually run at once)</option>
        <option value="auto">run at once</option>
        <option value="required">ask a person</option>
      </Select>
      <Select label="Calls that change something" {...set("writes")}>
        <option value="default">as the source says (usually ask)</option>
        <option value="required">ask a person</option>
        <option value="auto">run at once</option>
      </Select>
    </div>
  );
}

function Auth({ form, set }: { form: SourceForm; set: Set }) {
  const { authType } = form;
  return (
    <fieldset className="flex flex-col gap-4 rounded-lg border border-line p-4">
      <legend className="px-1 text-sm font-medium">Credential</legend>
      <div className="grid gap-4 sm:grid-cols-2">
        <Select label="How calls sign in" {...set("authType")}>
          <option value="none">not at all</option>
          <option value="bearer">bearer token</option>
          <option value="apiKey">API key</option>
          <option value="basic">user name and password</option>
          <option value="oauth2">sign-in with the provider (OAuth)</option>
        </Select>
        {authType !== "none" && (
          <Select label="Whose it is" {...set("authMode")}>
            <option value="workspace">one for the whole workspace</option>
            <option value="actor">everyone their own</option>
          </Select>
        )}
      </div>
      {authType === "apiKey" && (
        <div className="grid gap-4 sm:grid-cols-2">
          <Select label="Where the key goes" {...set("keyPlace")}>
            <option value="header">a header</option>
            <option value="query">the query</option>
            <option value="cookie">a cookie</option>
          </Select>
          <TextField label="Its name there" placeholder="X-API-Key" className="font-mono" {...set("keyName")} />
        </div>
      )}
      {authType === "oauth2" && (
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label="Client id"
            placeholder="registered by itself"
            hint="Only where the provider does not let clients register."
            {...set("clientId")}
          />
          <TextField label="Scopes" placeholder="as the provider says" {...set("scopes")} />
        </div>
      )}
      {authType !== "none" && (
        <p className="text-sm text-muted">
          The secret itself is asked for when a task first needs it, or given under Credentials. It is kept sealed and
          never shown again.
        </p>
      )}
    </fieldset>
  );
}
