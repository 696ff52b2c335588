/** Writing a rule: which tools, for whom, when, and what then. What it will do is said in words before it is kept. */
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { executor, explain } from "../../api.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Select, TextField } from "../../ui/field.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";
import { afterChange } from "./queries.ts";
import { type ConditionForm, DECISIONS, emptyRule, OPS, type RuleForm, sayConditions, toPolicy } from "./rule-form.ts";

export function NewRule({ onClose }: { onClose: () => void }) {
  const [form, setForm] = useState<RuleForm>(emptyRule);
  const [isTried, setTried] = useState(false);
  const change = (part: Partial<RuleForm>) => setForm((old) => ({ ...old, ...part }));
  const read = toPolicy(form);
  const create = useMutation({
    mutationFn: (policy: Parameters<ReturnType<typeof executor>["policies"]["create"]>[0]) =>
      executor().policies.create(policy),
    onSuccess: () => {
      afterChange();
      onClose();
    },
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if ("policy" in read) create.mutate(read.policy);
  };
  return (
    <Dialog open onClose={onClose} title="New rule" wide>
      <form onSubmit={send} className="flex flex-col gap-4" noValidate>
        <div className="grid gap-4 sm:grid-cols-[1fr_auto]">
          <TextField
            label="Tools"
            placeholder="github.issues.*"
            hint="A path; * stands for any characters, dots included."
            className="font-mono"
            autoComplete="off"
            spellCheck={false}
            value={form.toolPathPattern}
            onChange={({ target }) => change({ toolPathPattern: target.value })}
          />
          <Select
            label="Their calls"
            value={form.decision}
            onChange={({ target }) => change({ decision: target.value as RuleForm["decision"] })}
          >
            {Object.entries(DECISIONS).map(([value, { says }]) => (
              <option key={value} value={value}>
                {says}
              </option>
            ))}
          </Select>
        </div>
        <Conditions conditions={form.conditions} onChange={(conditions) => change({ conditions })} />
        <Callers form={form} onChange={change} />
        {"policy" in read ? <InWords policy={read.policy} /> : isTried && <Problem text={read.problem} />}
        {create.isError && <Problem text={explain(create.error)} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Back</Button>
          <Button kind="primary" type="submit" disabled={create.isPending}>
            Keep the rule
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Callers({ form, onChange }: { form: RuleForm; onChange: (part: Partial<RuleForm>) => void }) {
  return (
    <details>
      <summary className="text-sm text-accent">Only for some callers, or with a priority</summary>
      <div className="mt-3 grid gap-4 sm:grid-cols-3">
        <TextField
          label="Actor"
          placeholder="anyone"
          className="font-mono"
          value={form.actorId}
          onChange={({ target }) => onChange({ actorId: target.value })}
        />
        <TextField
          label="Client"
          placeholder="any"
          className="font-mono"
          value={form.clientId}
          onChange={({ target }) => onChange({ clientId: target.value })}
        />
        <TextField
          label="Priority"
          placeholder="0"
          inputMode="numeric"
          value={form.priority}
          onChange={({ target }) => onChange({ priority: target.value })}
        />
      </div>
    </details>
  );
}

const Problem = ({ text }: { text: string }) => (
  <p role="alert" className="text-bad">
    <Untrusted text={text} />
  </p>
);

type Made = Extract<ReturnType<typeof toPolicy>, { policy: unknown }>["policy"];

function InWords({ policy: { toolPathPattern, decision, conditions, actorId, clientId } }: { policy: Made }) {
  const isWide = toolPathPattern.endsWith("*") && decision === "allow";
  return (
    <div className={`rounded-lg p-3 ${isWide ? "bg-warn-soft" : "bg-accent-soft"}`}>
      <p>
        Calls of <Untrusted text={toolPathPattern} className="font-mono font-semibold" />{" "}
        {actorId === undefined && clientId === undefined ? "by anyone in this workspace" : "by this caller"}{" "}
        <strong>{DECISIONS[decision].says}</strong> {conditions && <Untrusted text={sayConditions(conditions)} />}
      </p>
      {isWide && (
        <p className="mt-1 text-sm text-warn">
          This covers every tool whose path begins so, also those that a source brings later.
        </p>
      )}
    </div>
  );
}

interface ConditionsProps {
  conditions: ConditionForm[];
  onChange: (conditions: ConditionForm[]) => void;
}

function Conditions({ conditions, onChange }: ConditionsProps) {
  const set = (at: number, part: Partial<ConditionForm>) =>
    onChange(conditions.map((each, index) => (index === at ? { ...each, ...part } : each)));
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">Only when the input has (all must hold)</legend>
      {conditions.map((condition, at) => (
        <div key={at} className="grid grid-cols-[1fr_auto_1fr_auto] items-end gap-2">
          <TextField
            label="Value at"
            placeholder="owner"
            className="font-mono"
            value={condition.path}
            onChange={({ target }) => set(at, { path: target.value })}
          />
          <Select
            label="Test"
            value={condition.op}
            onChange={({ target }) => set(at, { op: target.value as ConditionForm["op"] })}
          >
            {Object.entries(OPS).map(([op, label]) => (
              <option key={op} value={op}>
                {label}
              </option>
            ))}
          </Select>
          <TextField
            label="This"
            className="font-mono"
            value={condition.value}
            onChange={({ target }) => set(at, { value: target.value })}
          />
          <IconButton
            icon="cross"
            label={`Remove condition ${at + 1}`}
            onClick={() => onChange(conditions.filter((_, index) => index !== at))}
          />
        </div>
      ))}
      <Button
        className="self-start"
        icon="plus"
        onClick={() => onChange([...conditions, { path: "", op: "equals", value: "" }])}
      >
        Add a condition
      </Button>
    </fieldset>
  );
}
