/** The title of the page: what waits, where one is. */
import { useEffect } from "react";
import { createStore, useStore } from "../../store.ts";

const place = createStore("");

export function useTitle(text: string): void {
  useEffect(() => place.set(text), [text]);
}

/** Drawn once, by the frame. */
export function PageTitle({ useCount }: { useCount: () => number }): null {
  const count = useCount();
  const where = useStore(place);
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ""}${where === "" ? "" : `${where} · `}Executor`;
  }, [count, where]);
  return null;
}
