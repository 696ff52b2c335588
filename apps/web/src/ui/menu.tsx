/** A list of actions behind a button. */
import { Menu as Base } from "@base-ui/react/menu";
import type { ReactElement } from "react";
import { Icon, type IconName } from "./icon.tsx";

export interface MenuItem {
  label: string;
  icon?: IconName;
  run: () => void;
}

export function Menu({ trigger, items }: { trigger: ReactElement; items: (MenuItem | "line")[] }) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} align="end" className="z-50">
          <Base.Popup className="pop min-w-44 p-1 outline-none">
            {items.map((item, at) =>
              item === "line" ? (
                <Base.Separator key={at} className="my-1 h-px bg-line" />
              ) : (
                <Base.Item
                  key={item.label}
                  onClick={item.run}
                  className="flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 text-sm outline-none data-highlighted:bg-accent-soft data-highlighted:text-accent"
                >
                  {item.icon && <Icon name={item.icon} />}
                  {item.label}
                </Base.Item>
              ),
            )}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
