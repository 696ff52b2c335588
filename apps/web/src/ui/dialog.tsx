/**
 * A question in front of the page. Focus goes in and comes back; Esc and a click outside close it. Its code comes after the
 * first page stands, before anybody can have asked for it.
 */
import { lazy, Suspense } from "react";
import type { DialogProps } from "./dialog-base.tsx";

const load = () => import("./dialog-base.tsx");
const DialogBase = lazy(async () => ({ default: (await load()).DialogBase }));
setTimeout(() => void load().catch(() => undefined), 500);

export function Dialog(props: DialogProps) {
  if (!props.open) return null;
  return (
    <Suspense>
      <DialogBase {...props} />
    </Suspense>
  );
}
