/** Our few icons, drawn on a 16 by 16 grid. Decoration only: what they mean is said in words beside them. */
const PATHS = {
  inbox:
    "M2 9.5h3.2l1 1.7h3.6l1-1.7H14M2 9.5 3.6 4a1 1 0 0 1 1-.7h6.8a1 1 0 0 1 1 .7L14 9.5v2.7a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1z",
  tasks: "M2.5 4h.01M2.5 8h.01M2.5 12h.01M6 4h7.5M6 8h7.5M6 12h7.5",
  plug: "M6 1.8v3M10 1.8v3M4.2 4.8h7.6v2.6a3.8 3.8 0 0 1-7.6 0zM8 11.2v3",
  lock: "M4.5 7V5a3.5 3.5 0 0 1 7 0v2M3.5 7h9v6.5h-9z",
  shield: "M8 1.8 13 3.6v4c0 3-2 5.4-5 6.6-3-1.2-5-3.6-5-6.6v-4z",
  link: "M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2-2a2.6 2.6 0 0 0-3.7-3.7l-.8.8M9.2 6.8a2.6 2.6 0 0 0-3.7 0l-2 2a2.6 2.6 0 0 0 3.7 3.7l.8-.8",
  activity: "M1.8 8h2.6l2-5.2 3.2 10.4 2-5.2h2.6",
  check: "m3 8.5 3.2 3.2L13 4.8",
  cross: "m4 4 8 8m0-8-8 8",
  play: "M4.5 3v10l8-5z",
  stop: "M4 4h8v8H4z",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  down: "m4 6 4 4 4-4",
  right: "m6 4 4 4-4 4",
  left: "m10 4-4 4 4 4",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  warning: "M8 2 14.5 13.5h-13zM8 6.5v3.2M8 11.7h.01",
  clock: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8M8 4.6V8l2.3 1.5",
  bell: "M4 11V7a4 4 0 0 1 8 0v4l1.2 1.2H2.8zM6.5 14h3",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6M8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9",
  moon: "M13 9.6A5.6 5.6 0 0 1 6.4 3a5.6 5.6 0 1 0 6.6 6.6",
  screen: "M2 3.2h12v7.6H2zM6 13.5h4M8 10.8v2.7",
  person: "M8 2.2a2.7 2.7 0 1 0 0 5.4 2.7 2.7 0 0 0 0-5.4M2.8 13.8c.5-2.7 2.6-4.2 5.2-4.2s4.7 1.5 5.2 4.2",
  keyboard: "M1.8 4h12.4v8H1.8zM4 6.5h.01M6.7 6.5h.01M9.3 6.5h.01M12 6.5h.01M5 9.5h6",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9m3.3 7.8L13.5 13.5",
  plus: "M8 3v10M3 8h10",
  question: "M5.8 6a2.2 2.2 0 1 1 3.2 2c-.7.4-1 .8-1 1.6M8 12h.01",
  again: "M13 8a5 5 0 1 1-1.5-3.6M13 2v3h-3",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, className = "size-4" }: { name: IconName; className?: string }) {
  return (
    <svg
      viewBox="0 0 16 16"
      className={`shrink-0 ${className}`}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
