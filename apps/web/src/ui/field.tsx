/** Form fields: a label that belongs to its control, a hint, and what is wrong with it. */
import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";

const CONTROL =
  "w-full rounded-md border border-line-strong bg-surface px-2.5 py-1.5 text-base text-fg placeholder:text-muted disabled:opacity-50";

interface About {
  label: string;
  hint?: ReactNode;
  problem?: string | null;
}

function Field({ id, label, hint, problem, children }: About & { id: string; children: ReactNode }) {
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      {children}
      {hint !== undefined && <p className="text-xs text-muted">{hint}</p>}
      {problem && (
        <p id={`${id}-problem`} role="alert" className="text-sm text-bad">
          {problem}
        </p>
      )}
    </div>
  );
}

const describe = (id: string, problem: string | null | undefined) =>
  problem ? { "aria-invalid": true, "aria-describedby": `${id}-problem` } : {};

export function TextField({
  label,
  hint,
  problem,
  className = "",
  ...rest
}: About & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  return (
    <Field id={id} label={label} hint={hint} problem={problem ?? null}>
      <input id={id} className={`${CONTROL} ${className}`} {...describe(id, problem)} {...rest} />
    </Field>
  );
}

export function TextArea({
  label,
  hint,
  problem,
  className = "",
  ...rest
}: About & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const id = useId();
  return (
    <Field id={id} label={label} hint={hint} problem={problem ?? null}>
      <textarea id={id} rows={3} className={`${CONTROL} ${className}`} {...describe(id, problem)} {...rest} />
    </Field>
  );
}

export function Select({ label, hint, problem, children, ...rest }: About & SelectHTMLAttributes<HTMLSelectElement>) {
  const id = useId();
  return (
    <Field id={id} label={label} hint={hint} problem={problem ?? null}>
      <select id={id} className={CONTROL} {...describe(id, problem)} {...rest}>
        {children}
      </select>
    </Field>
  );
}
