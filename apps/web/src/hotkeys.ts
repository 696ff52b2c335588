/**
 * Keys for the whole page. Plain letters work only where nothing is typed and no dialog is open, and can be switched off
 * (they collide with some assistive software). `g a` is two keys, one after the other: after a `g` no letter means what it means alone.
 */
import { useEffect, useRef } from "react";
import { createStore, readSetting, writeSetting } from "./store.ts";

export type Hotkeys = Record<string, (event: KeyboardEvent) => void>;

export const lettersAreOn = createStore(readSetting("letters") !== "off");
lettersAreOn.subscribe(() => writeSetting("letters", lettersAreOn.get() ? null : "off"));

const LEADER = "g";
const SEQUENCE_MS = 1_200;

export function useHotkeys(hotkeys: Hotkeys): void {
  const current = useRef(hotkeys);
  useEffect(() => {
    current.current = hotkeys;
  });
  useEffect(() => {
    let startedAt = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing) return;
      const key = nameOf(event);
      const isLetter = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
      if (isLetter && (!lettersAreOn.get() || isTyping(event.target) || hasDialog())) return;
      const isSecond = performance.now() - startedAt < SEQUENCE_MS;
      const wanted = isLetter && isSecond ? `${LEADER} ${key}` : key;
      startedAt = isLetter && !isSecond && key === LEADER ? performance.now() : Number.NEGATIVE_INFINITY;
      const run = Object.hasOwn(current.current, wanted) ? current.current[wanted] : undefined;
      if (!run) return;
      event.preventDefault();
      run(event);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}

function nameOf(event: KeyboardEvent): string {
  const isCommand = event.ctrlKey || event.metaKey;
  return `${isCommand ? "mod+" : ""}${event.key.length === 1 ? event.key : event.key.toLowerCase()}`;
}

/** An editor inside a shadow root is the target's host; it says so itself. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable], [data-typing]") !== null;

const hasDialog = (): boolean =>
  document.querySelector('[role="dialog"], [role="menu"], [role="alertdialog"]') !== null;
