/** Buttons: one look for each weight an action has. */
import type { ButtonHTMLAttributes } from "react";
import { Icon, type IconName } from "./icon.tsx";

export type ButtonKind = "primary" | "plain" | "quiet" | "danger" | "ok";

const LOOKS: Record<ButtonKind, string> = {
  primary: "bg-accent text-accent-fg border-transparent hover:opacity-90",
  ok: "bg-ok text-surface border-transparent hover:opacity-90",
  danger: "bg-bad text-bad-fg border-transparent hover:opacity-90",
  plain: "bg-raised text-fg border-line hover:border-line-strong",
  quiet: "bg-transparent text-muted border-transparent hover:bg-sunken hover:text-fg",
};

export const buttonLook = (kind: ButtonKind = "plain", extra = ""): string =>
  `inline-flex min-h-8 items-center justify-center gap-1.5 rounded-md border px-3 py-1 text-sm font-medium whitespace-nowrap select-none disabled:opacity-50 ${LOOKS[kind]} ${extra}`;

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: ButtonKind;
  icon?: IconName;
}

export function Button({ kind, icon, className, children, type = "button", ...rest }: ButtonProps) {
  return (
    <button type={type} className={buttonLook(kind, className)} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** With an icon only: its label is read out and shown when pointed at. */
export function IconButton({
  icon,
  label,
  className = "",
  ...rest
}: Omit<ButtonProps, "children" | "kind"> & { icon: IconName; label: string }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={buttonLook("quiet", `w-8 px-0 ${className}`)}
      {...rest}
    >
      <Icon name={icon} />
    </button>
  );
}
