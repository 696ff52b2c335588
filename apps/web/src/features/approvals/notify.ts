/** Browser notifications of what waits, if the person asked for them, while the page is not looked at. */
import type { TaskEvent } from "@executor/client";
import { createStore, readSetting, writeSetting } from "../../store.ts";
import { showToast } from "../../ui/toast.tsx";
import { toPlainText } from "../../ui/visible.ts";

const canNotify = (): boolean => "Notification" in globalThis;

export const notificationsAreOn = createStore(
  readSetting("notify") === "on" && canNotify() && Notification.permission === "granted",
);

export async function switchNotifications(): Promise<void> {
  if (notificationsAreOn.get()) {
    writeSetting("notify", null);
    return notificationsAreOn.set(false);
  }
  const permission = canNotify() ? await Notification.requestPermission() : "denied";
  if (permission !== "granted")
    return void showToast({
      text: "The browser does not let this page notify you. Allow it in the site's settings.",
      tone: "bad",
    });
  writeSetting("notify", "on");
  notificationsAreOn.set(true);
}

export function tellOfNews(events: readonly TaskEvent[]): void {
  if (!notificationsAreOn.get() || !document.hidden) return;
  const asked = events.filter(({ type }) => type === "approval.requested" || type === "interaction.requested");
  const [first] = asked;
  if (!first) return;
  const title = asked.length === 1 ? "A task waits for you" : `${asked.length} calls wait for you`;
  const shown = new Notification(title, {
    body: toPlainText(String(first.data["toolPath"] ?? "")),
    tag: "executor.waiting",
    icon: "/favicon.svg",
  });
  shown.addEventListener("click", () => {
    window.focus();
    shown.close();
  });
}
