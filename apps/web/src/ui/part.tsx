/** A titled piece of a page. */
import type { ReactNode } from "react";

export function Part({ title, children, aside }: { title: string; children: ReactNode; aside?: ReactNode }) {
  return (
    <section aria-label={title} className="panel overflow-hidden">
      <header className="flex items-center gap-2 px-4 py-2">
        <h2 className="flex-1 text-base">{title}</h2>
        {aside}
      </header>
      <div className="border-t border-line">{children}</div>
    </section>
  );
}
