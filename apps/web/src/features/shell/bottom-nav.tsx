/** The navigation on a phone: the first few screens below, the others behind "More". */
import { Link, useNavigate } from "@tanstack/react-router";
import type { Feature } from "../../feature.ts";
import { Icon } from "../../ui/icon.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Count } from "./count.tsx";

type Nav = NonNullable<Feature["nav"]>;

const FIRST = 3;
const LOOK = "relative flex min-w-16 flex-1 flex-col items-center gap-0.5 py-2 text-xs text-muted";
const none = () => 0;

export function BottomNav({ entries }: { entries: readonly Nav[] }) {
  const navigate = useNavigate();
  const more = entries.slice(FIRST);
  return (
    <nav
      aria-label="Main"
      className="flex justify-around border-t border-line bg-surface pb-[env(safe-area-inset-bottom)] md:hidden"
    >
      {entries.slice(0, FIRST).map((entry) => (
        <Entry key={entry.to} nav={entry} />
      ))}
      {more.length > 0 && (
        <Menu
          trigger={
            <button type="button" className={LOOK}>
              <Icon name="more" className="size-5" />
              More
            </button>
          }
          items={more.map(({ label, icon, to }) => ({ label, icon, run: () => void navigate({ to }) }))}
        />
      )}
    </nav>
  );
}

function Entry({ nav: { to, label, icon, useCount = none } }: { nav: Nav }) {
  const count = useCount();
  return (
    <Link
      to={to}
      activeOptions={{ exact: to === "/", includeSearch: false }}
      className={`${LOOK} data-[status=active]:font-medium data-[status=active]:text-accent`}
    >
      <Icon name={icon} className="size-5" />
      {label}
      <span className="absolute top-1 left-1/2 ml-1.5">
        <Count count={count} />
      </span>
    </Link>
  );
}
