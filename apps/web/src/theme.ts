/** Light, dark, or as the system says. public/theme.js does the same before the first paint. */
import { createStore, readSetting, writeSetting } from "./store.ts";

export type Theme = "system" | "light" | "dark";

const toTheme = (text: string | null): Theme => (text === "light" || text === "dark" ? text : "system");
export const theme = createStore<Theme>(toTheme(readSetting("theme")));

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

function apply(): void {
  const chosen = theme.get();
  const isDark = chosen === "dark" || (chosen === "system" && systemIsDark.matches);
  document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
}

export function chooseTheme(chosen: Theme): void {
  writeSetting("theme", chosen === "system" ? null : chosen);
  theme.set(chosen);
}

theme.subscribe(apply);
systemIsDark.addEventListener("change", apply);
