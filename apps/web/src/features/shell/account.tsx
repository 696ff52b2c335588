/** Who is signed in, and what concerns the page as a whole: theme, keys, notifications, signing out. */
import { leave, session } from "../../session.ts";
import { useStore } from "../../store.ts";
import { chooseTheme, theme } from "../../theme.ts";
import { buttonLook } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Menu, type MenuItem } from "../../ui/menu.tsx";
import { notificationsAreOn, switchNotifications } from "../approvals/notify.ts";

export function Account({ onHelp, onPalette }: { onHelp: () => void; onPalette: () => void }) {
  const state = useStore(session);
  const chosen = useStore(theme);
  const notifies = useStore(notificationsAreOn);
  if (state.kind !== "ready") return null;
  const { me } = state;
  const tick = (isOn: boolean) => ({ icon: isOn ? ("check" as const) : undefined });
  const items: (MenuItem | "line")[] = [
    { label: "Search and commands", icon: "search", run: onPalette },
    { label: "Keyboard", icon: "keyboard", run: onHelp },
    {
      label: notifies ? "Stop notifying me" : "Notify me of approvals",
      icon: "bell",
      run: () => void switchNotifications(),
    },
    "line",
    { label: "Light", run: () => chooseTheme("light"), ...tick(chosen === "light") },
    { label: "Dark", run: () => chooseTheme("dark"), ...tick(chosen === "dark") },
    { label: "As the system", run: () => chooseTheme("system"), ...tick(chosen === "system") },
    "line",
    { label: me.tokenKind === "key" ? "Forget the key and sign out" : "Sign out", run: () => void leave() },
  ].map((item) => (typeof item === "string" ? ("line" as const) : (item as MenuItem)));
  const kind = { anonymous: "Anonymous workspace", login: "Signed in by link", key: "Signed in by key" }[me.tokenKind];
  return (
    <Menu
      items={items}
      trigger={
        <button type="button" className={buttonLook("quiet", "md:w-full md:justify-start md:px-2 md:py-2")}>
          <Icon name="person" className="size-5" />
          <span className="sr-only">Account: </span>
          <span className="flex min-w-0 flex-col items-start leading-4 max-md:sr-only">
            <span className="font-medium text-fg">{me.installationAdmin ? "Owner" : me.role}</span>
            <span className="text-xs font-normal">{kind}</span>
          </span>
        </button>
      }
    />
  );
}
