/** Short news at the edge of the page, read out once. It goes by itself unless it holds something to do. */
import { createStore, useStore } from "../store.ts";
import { Button, IconButton } from "./button.tsx";
import { Untrusted } from "./untrusted.tsx";

export interface Toast {
  id: string;
  text: string;
  tone?: "plain" | "bad";
  actions?: { label: string; run: () => void }[];
  /** Null: until it is dismissed. */
  forMs?: number | null;
}

const toasts = createStore<readonly Toast[]>([]);
const DEFAULT_MS = 5_000;
let count = 0;

/** Answers with what takes it away. The same `id` replaces the toast that has it. */
export function showToast({ id = `toast-${++count}`, ...rest }: Omit<Toast, "id"> & { id?: string }): () => void {
  const toast: Toast = { id, ...rest };
  toasts.set([...toasts.get().filter((each) => each.id !== id), toast]);
  const dismiss = () => toasts.set(toasts.get().filter((each) => each !== toast));
  const forMs = toast.forMs === undefined ? DEFAULT_MS : toast.forMs;
  if (forMs !== null) setTimeout(dismiss, forMs);
  return dismiss;
}

export function Toaster() {
  const shown = useStore(toasts);
  return (
    <div
      role="region"
      aria-label="Notifications"
      className="pointer-events-none fixed inset-x-3 bottom-16 z-50 flex flex-col items-end gap-2 sm:bottom-4"
    >
      <ol aria-live="polite" className="flex w-full max-w-sm flex-col gap-2">
        {shown.map((toast) => (
          <li
            key={toast.id}
            className={`pop pointer-events-auto flex items-center gap-2 py-2 pr-2 pl-3 text-sm ${toast.tone === "bad" ? "text-bad" : ""}`}
          >
            <Untrusted text={toast.text} className="min-w-0 flex-1" />
            {toast.actions?.map(({ label, run }) => (
              <Button key={label} kind="plain" onClick={run}>
                {label}
              </Button>
            ))}
            {!toast.actions && (
              <IconButton
                icon="cross"
                label="Dismiss"
                onClick={() => toasts.set(toasts.get().filter((each) => each !== toast))}
              />
            )}
          </li>
        ))}
      </ol>
    </div>
  );
}
