/** Every key of the console. */
import type { Feature } from "../../feature.ts";
import { lettersAreOn } from "../../hotkeys.ts";
import { useStore } from "../../store.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Kbd } from "../../ui/kbd.tsx";

type Nav = NonNullable<Feature["nav"]>;

const KEYS: [string, string[]][] = [
  ["Next, previous", ["j", "k"]],
  ["Approve what is selected", ["a"]],
  ["Deny, with a reason", ["d"]],
  ["Always allow …", ["w"]],
  ["Take back the last decision", ["u"]],
  ["Write a new task", ["c"]],
  ["Run the code in the editor", ["Ctrl", "Enter"]],
  ["Search and commands", ["Ctrl", "k"]],
  ["This list", ["?"]],
];

export function KeysHelp({ entries, onClose }: { entries: Nav[]; onClose: () => void }) {
  const isOn = useStore(lettersAreOn);
  const rows: [string, string[]][] = [
    ...entries.map(({ label, key }): [string, string[]] => [`Go to ${label}`, ["g", key]]),
    ...KEYS,
  ];
  return (
    <Dialog open onClose={onClose} title="Keyboard">
      <dl className="grid grid-cols-[1fr_auto] gap-x-6 gap-y-2">
        {rows.map(([what, pressed]) => (
          <div key={what} className="contents">
            <dt>{what}</dt>
            <dd className="flex gap-1">
              {pressed.map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <label className="mt-4 flex items-center gap-2 border-t border-line pt-4">
        <input type="checkbox" checked={isOn} onChange={(event) => lettersAreOn.set(event.target.checked)} />
        Single letters are shortcuts
      </label>
    </Dialog>
  );
}
