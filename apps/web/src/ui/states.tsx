/** What stands where data would: while it is on its way, when there is none, when it could not be had. */
import type { ReactNode } from "react";
import { explain } from "../api.ts";
import { Button } from "./button.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { Untrusted } from "./untrusted.tsx";

export function Skeleton({ lines = 3, label = "Loading" }: { lines?: number; label?: string }) {
  return (
    <div role="status" aria-label={label} className="flex flex-col gap-3 p-4">
      {Array.from({ length: lines }, (_, at) => (
        <div
          key={at}
          className={`h-4 animate-pulse rounded bg-line ${at % 3 === 2 ? "w-1/2" : at % 2 ? "w-4/5" : "w-full"}`}
        />
      ))}
    </div>
  );
}

interface EmptyProps {
  icon: IconName;
  title: string;
  children?: ReactNode;
}

export function EmptyState({ icon, title, children }: EmptyProps) {
  return (
    <div className="mx-auto flex max-w-md flex-col items-center gap-2 px-6 py-12 text-center">
      <span className="grid size-11 place-items-center rounded-full bg-accent-soft text-accent">
        <Icon name={icon} className="size-5" />
      </span>
      <h2>{title}</h2>
      <div className="flex flex-col items-center gap-3 text-muted">{children}</div>
    </div>
  );
}

export function ErrorState({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <div role="alert" className="m-4 flex flex-wrap items-center gap-3 rounded-lg bg-bad-soft p-4 text-bad">
      <Icon name="warning" />
      <Untrusted text={explain(error)} className="min-w-0 flex-1" />
      {onRetry && (
        <Button icon="again" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
