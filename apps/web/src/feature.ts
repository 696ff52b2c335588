/** What a feature brings to the frame besides its routes: its place in the navigation and what it does with the news. */
import type { IconName } from "./ui/icon.tsx";
import type { OnEvents } from "./live.ts";

export interface Feature {
  /** Absent for screens that are only reached through others. */
  nav?: {
    to: string;
    label: string;
    icon: IconName;
    /** With `g` before it. */
    key: string;
    /** Shown to those who have at least this role; everyone by default. */
    role?: "reviewer" | "admin";
    /** How much there waits for a person. */
    useCount?: () => number;
  };
  onEvents?: OnEvents;
}
