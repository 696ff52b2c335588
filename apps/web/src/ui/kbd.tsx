/** A key, as it stands on the keyboard. */
export function Kbd({ children }: { children: string }) {
  return (
    <kbd className="inline-grid min-w-5 place-items-center rounded border border-line bg-sunken px-1 font-mono text-[0.6875rem] leading-4 text-muted">
      {children}
    </kbd>
  );
}
