/** Ctrl-K: go to a screen, change the theme, or find a tool by what it does. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useDeferredValue, useId, useState } from "react";
import { executor, keys } from "../../api.ts";
import type { Feature } from "../../feature.ts";
import { chooseTheme } from "../../theme.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Icon, type IconName } from "../../ui/icon.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";

type Nav = NonNullable<Feature["nav"]>;
interface Command {
  id: string;
  label: string;
  detail?: string;
  icon: IconName;
  run: () => void;
}

interface PaletteProps {
  entries: Nav[];
  onClose: () => void;
  onHelp: () => void;
}

export function Palette({ entries, onClose, onHelp }: PaletteProps) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const listId = useId();
  const commands = useCommands(text, { entries, onClose, onHelp });
  const active = Math.min(at, commands.length - 1);
  const onKey = (event: React.KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setAt((active + step + commands.length) % Math.max(1, commands.length));
    else if (event.key === "Enter") commands[active]?.run();
    else return;
    event.preventDefault();
  };
  return (
    <Dialog open onClose={onClose} title="Search and commands">
      <input
        role="combobox"
        aria-label="Search"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={commands[active] ? `${listId}-${active}` : undefined}
        className="w-full rounded-md border border-line-strong bg-surface px-3 py-2"
        placeholder="A screen, or what a tool should do"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKey}
      />
      <ul id={listId} role="listbox" aria-label="Found" className="mt-2 max-h-80 min-h-40 overflow-auto">
        {commands.map((command, index) => (
          <li
            key={command.id}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === active}
            onClick={command.run}
            className={`flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 ${index === active ? "bg-accent-soft text-accent" : ""}`}
          >
            <Icon name={command.icon} />
            <span className="min-w-0">
              <Untrusted text={command.label} />
              {command.detail !== undefined && (
                <span className="block truncate text-xs text-muted">
                  <Untrusted text={command.detail.slice(0, 200)} />
                </span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

function useCommands(text: string, { entries, onClose, onHelp }: PaletteProps): Command[] {
  const navigate = useNavigate();
  const query = useDeferredValue(text.trim());
  const found = useQuery({
    queryKey: [...keys.tools, "search", query],
    queryFn: ({ signal }) => executor().tools.search(query, { limit: 8, signal }),
    enabled: query.length > 1,
    placeholderData: (previous) => previous,
  });
  const go = (run: () => void) => () => {
    onClose();
    run();
  };
  const fixed: Command[] = [
    ...entries.map(({ to, label, icon }) => ({
      id: to,
      label: `Go to ${label}`,
      icon,
      run: go(() => void navigate({ to })),
    })),
    { id: "new", label: "New task", icon: "plus", run: go(() => void navigate({ to: "/tasks/new" })) },
    { id: "light", label: "Light theme", icon: "sun", run: go(() => chooseTheme("light")) },
    { id: "dark", label: "Dark theme", icon: "moon", run: go(() => chooseTheme("dark")) },
    { id: "system", label: "Theme as the system", icon: "screen", run: go(() => chooseTheme("system")) },
    { id: "keys", label: "Keyboard", icon: "keyboard", run: onHelp },
  ];
  const tools = query.length > 1 ? (found.data?.items ?? []) : [];
  return [
    ...fixed.filter(({ label }) => label.toLowerCase().includes(text.trim().toLowerCase())),
    ...tools.map(({ path, description }) => ({
      id: `tool:${path}`,
      label: path,
      detail: description,
      icon: "plug" as const,
      run: go(() => void navigate({ to: "/tasks/new", search: { tool: path } })),
    })),
  ];
}
