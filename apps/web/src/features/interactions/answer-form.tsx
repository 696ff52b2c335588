/** The form that an interaction's JSON Schema describes: one value, or an object of plain ones. */
import type { Interaction } from "@executor/client";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Select, TextField } from "../../ui/field.tsx";
import { toPlainText } from "../../ui/visible.ts";

interface AnswerFormProps {
  interaction: Interaction;
  isBusy: boolean;
  onAnswer: (answer: unknown) => void;
}

interface Asked {
  name: string;
  label: string;
  type: "text" | "number" | "boolean";
  options: string[] | null;
  isRequired: boolean;
  isSecret: boolean;
}

export function AnswerForm({ interaction, isBusy, onAnswer }: AnswerFormProps) {
  const { schema = { type: "string" }, kind } = interaction;
  const isObject = schema["type"] === "object";
  const fields = isObject
    ? readFields(schema, kind === "credential")
    : [readField("answer", schema, true, kind === "credential")];
  const [values, setValues] = useState<Record<string, string | boolean>>({});
  const submit = () => {
    const given = fields.flatMap((field): [string, unknown][] => {
      const value = values[field.name] ?? (field.type === "boolean" ? false : "");
      if (value === "") return [];
      return [[field.name, field.type === "number" ? Number(value) : value]];
    });
    onAnswer(isObject ? Object.fromEntries(given) : given[0]?.[1]);
  };
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {fields.map((field) => (
        <OneField
          key={field.name}
          field={field}
          value={values[field.name]}
          onChange={(value) => setValues((old) => ({ ...old, [field.name]: value }))}
        />
      ))}
      <Button kind="primary" type="submit" className="self-start" disabled={isBusy}>
        Send
      </Button>
    </form>
  );
}

interface OneFieldProps {
  field: Asked;
  value: string | boolean | undefined;
  onChange: (value: string | boolean) => void;
}

function OneField({ field: { label, type, options, isRequired, isSecret }, value, onChange }: OneFieldProps) {
  if (options)
    return (
      <Select
        label={label}
        required={isRequired}
        value={String(value ?? "")}
        onChange={(event) => onChange(event.target.value)}
      >
        <option value="">Choose …</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {toPlainText(option)}
          </option>
        ))}
      </Select>
    );
  if (type === "boolean")
    return (
      <label className="flex items-center gap-2">
        <input type="checkbox" checked={value === true} onChange={(event) => onChange(event.target.checked)} />
        {label}
      </label>
    );
  return (
    <TextField
      label={label}
      type={isSecret ? "password" : type === "number" ? "number" : "text"}
      step="any"
      autoComplete="off"
      spellCheck={false}
      required={isRequired}
      value={String(value ?? "")}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

function readFields(schema: Record<string, unknown>, isSecret: boolean): Asked[] {
  const properties = (schema["properties"] ?? {}) as Record<string, Record<string, unknown>>;
  const required = Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : [];
  return Object.entries(properties).map(([name, about]) =>
    readField(name, about, required.includes(name), isSecret && name !== "username"),
  );
}

function readField(name: string, about: Record<string, unknown>, isRequired: boolean, isSecret: boolean): Asked {
  const { type, title, description } = about;
  const options = about["enum"];
  const label = [title, description, name === "answer" ? "Your answer" : name].find((each) => typeof each === "string");
  return {
    name,
    label: toPlainText(String(label), 300),
    type: type === "boolean" ? "boolean" : type === "number" || type === "integer" ? "number" : "text",
    options: Array.isArray(options) ? options.map(String) : null,
    isRequired,
    isSecret,
  };
}
