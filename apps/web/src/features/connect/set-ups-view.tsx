/** A key that was just made, the one time it is shown, and what to paste where. Without one, the same with a gap in it. */
import type { CreatedKey } from "@executor/client";
import { baseUrl } from "../../api.ts";
import { CodeView, CopyButton } from "../../ui/code-view.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";
import { setUps } from "./set-ups.ts";

export function SetUps({ made }: { made: CreatedKey | null }) {
  return (
    <section aria-label="Set-up" className="panel">
      {made && (
        <div role="status" className="rounded-t-[0.625rem] bg-ok-soft p-4">
          <p className="font-semibold text-ok">
            The key for <Untrusted text={made.label} />. It is shown this once.
          </p>
          <p className="mt-2 flex items-center gap-2">
            <code className="min-w-0 flex-1 rounded-md border border-line bg-surface px-2 py-1 font-mono text-sm break-all">
              {made.token}
            </code>
            <CopyButton text={made.token} label="Copy the key" />
          </p>
        </div>
      )}
      <Tabs
        label="Assistants"
        tabs={setUps(baseUrl, made?.token ?? "YOUR_KEY").map(({ id, label, where, text, isShell = false }) => ({
          id,
          label,
          content: (
            <div className="flex flex-col gap-2 p-4">
              <p className="text-sm text-muted">{where}</p>
              <CodeView code={text} label={`Set-up of ${label}`} isPlain={isShell} />
            </div>
          ),
        }))}
      />
    </section>
  );
}
