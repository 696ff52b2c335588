/** The frame around every screen: navigation (at the side, below on a phone), the line's state, who is signed in. */
import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Feature } from "../../feature.ts";
import { useHotkeys } from "../../hotkeys.ts";
import { line } from "../../live.ts";
import { useStore } from "../../store.ts";
import { Icon } from "../../ui/icon.tsx";
import { Account } from "./account.tsx";
import { BottomNav } from "./bottom-nav.tsx";
import { Count } from "./count.tsx";
import { KeysHelp } from "./keys-help.tsx";
import { Palette } from "./palette.tsx";
import { isAtLeast, useMe } from "./role.ts";
import { PageTitle } from "./title.ts";

type Nav = NonNullable<Feature["nav"]>;

export function Frame({ features }: { features: Feature[] }) {
  const navigate = useNavigate();
  const [open, setOpen] = useState<"help" | "palette" | null>(null);
  const me = useMe();
  const entries = features.flatMap(({ nav }) => (nav && isAtLeast(me, nav.role ?? "agent") ? nav : []));
  useHotkeys({
    "?": () => setOpen("help"),
    "mod+k": () => setOpen("palette"),
    c: () => void navigate({ to: "/tasks/new" }),
    ...Object.fromEntries(entries.map(({ key, to }) => [`g ${key}`, () => void navigate({ to })])),
  });
  return (
    <div className="grid h-full grid-rows-[auto_1fr_auto] md:grid-cols-[13rem_1fr] md:grid-rows-[1fr]">
      <a
        href="#main"
        className="sr-only z-50 rounded-md bg-accent px-3 py-2 text-accent-fg focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        Skip to content
      </a>
      <header className="flex items-center gap-2 border-line bg-surface px-3 py-2 max-md:border-b md:flex-col md:items-stretch md:border-r md:py-4">
        <Link to="/" className="flex items-center gap-2 rounded-md px-1 font-semibold md:mb-4">
          <img src="/favicon.svg" alt="" className="size-6" /> Executor
        </Link>
        <nav aria-label="Main" className="hidden flex-col gap-0.5 md:flex">
          {entries.map((entry) => (
            <SideEntry key={entry.to} nav={entry} />
          ))}
        </nav>
        <div className="flex-1" />
        <LineState />
        <Account onHelp={() => setOpen("help")} onPalette={() => setOpen("palette")} />
      </header>
      <main id="main" tabIndex={-1} className="min-h-0 min-w-0 overflow-auto outline-none">
        <Outlet />
      </main>
      <BottomNav entries={entries} />
      <PageTitle useCount={entries[0]?.useCount ?? none} />
      {open === "help" && <KeysHelp entries={entries} onClose={() => setOpen(null)} />}
      {open === "palette" && <Palette entries={entries} onClose={() => setOpen(null)} onHelp={() => setOpen("help")} />}
    </div>
  );
}

const none = () => 0;

function SideEntry({ nav: { to, label, icon, useCount = none } }: { nav: Nav }) {
  const count = useCount();
  return (
    <Link
      to={to}
      activeOptions={{ exact: to === "/", includeSearch: false }}
      className="flex items-center gap-2.5 rounded-md px-2 py-1.5 text-muted hover:bg-sunken hover:text-fg data-[status=active]:bg-accent-soft data-[status=active]:font-medium data-[status=active]:text-accent"
    >
      <Icon name={icon} />
      <span className="flex-1">{label}</span>
      <Count count={count} />
    </Link>
  );
}

/** Quiet while all is well. */
function LineState() {
  const state = useStore(line);
  return (
    <div role="status" className="text-xs md:px-2 md:pb-2">
      {state === "lost" && (
        <span className="inline-flex items-center gap-2 rounded-full bg-warn-soft px-2 py-0.5 text-warn">
          <span className="size-1.5 animate-pulse rounded-full bg-current" />
          Reconnecting …
        </span>
      )}
    </div>
  );
}
