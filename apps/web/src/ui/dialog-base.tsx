/** The dialog itself, in a file of its own so that the first page need not load it. See dialog.tsx. */
import { Dialog as Base } from "@base-ui/react/dialog";
import type { ReactNode } from "react";
import { IconButton } from "./button.tsx";

export interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
  wide?: boolean;
}

export function DialogBase({ open, onClose, title, children, wide = false }: DialogProps) {
  return (
    <Base.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-[rgb(8_10_14/0.55)]" />
        <Base.Popup
          className={`pop fixed top-1/2 left-1/2 z-50 flex max-h-[90dvh] w-[calc(100vw-1.5rem)] -translate-x-1/2 -translate-y-1/2 flex-col ${wide ? "max-w-2xl" : "max-w-md"}`}
        >
          <header className="flex items-center justify-between gap-2 border-b border-line py-2 pr-2 pl-4">
            <Base.Title>{title}</Base.Title>
            <Base.Close render={<IconButton icon="cross" label="Close" />} />
          </header>
          <div className="min-h-0 overflow-auto p-4">{children}</div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
