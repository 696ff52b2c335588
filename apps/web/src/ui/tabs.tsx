/** Several views of one thing, one at a time. */
import { Tabs as Base } from "@base-ui/react/tabs";
import type { ReactNode } from "react";

export interface Tab {
  id: string;
  label: ReactNode;
  content: ReactNode;
}

interface TabsProps {
  tabs: Tab[];
  label: string;
  initial?: string;
  /** In a column with room left: the views take it. */
  fills?: boolean;
}

export function Tabs({ tabs, label, initial, fills = false }: TabsProps) {
  return (
    <Base.Root defaultValue={initial ?? tabs[0]?.id} className={fills ? "flex min-h-0 flex-1 flex-col" : ""}>
      <Base.List aria-label={label} className="flex gap-1 overflow-x-auto border-b border-line px-2">
        {tabs.map((tab) => (
          <Base.Tab
            key={tab.id}
            value={tab.id}
            className="-mb-px border-b-2 border-transparent px-2.5 py-2 text-sm font-medium whitespace-nowrap text-muted -outline-offset-2 hover:text-fg data-active:border-accent data-active:text-fg"
          >
            {tab.label}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map((tab) => (
        <Base.Panel
          key={tab.id}
          value={tab.id}
          className={`-outline-offset-2 ${fills ? "min-h-0 flex-1 lg:overflow-auto" : ""}`}
        >
          {tab.content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
