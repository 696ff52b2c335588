/** The events of one connection as they come, read with nothing but fetch. */
import type { TaskEvent } from "@executor/contracts/event";

export interface SseConnection {
  status: number;
  /** What came so far. */
  events: TaskEvent[];
  ids: string[];
  /** Settles when the connection is over, however it ends. */
  ended: Promise<void>;
  close(): void;
}

export async function openSse(url: string, token: string, lastEventId?: number): Promise<SseConnection> {
  const controller = new AbortController();
  const headers = {
    authorization: `Bearer ${token}`,
    ...(lastEventId !== undefined && { "last-event-id": String(lastEventId) }),
  };
  const response = await fetch(url, { headers, signal: controller.signal });
  const events: TaskEvent[] = [];
  const ids: string[] = [];
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of response.body ?? []) {
      const messages = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
      rest = messages.pop() ?? "";
      for (const message of messages) {
        const data = /^data: (.*)$/m.exec(message)?.[1];
        if (data === undefined) continue;
        events.push(JSON.parse(data) as TaskEvent);
        ids.push(/^id: (.*)$/m.exec(message)?.[1] ?? "");
      }
    }
  };
  const ended = read().catch(() => undefined);
  return { status: response.status, events, ids, ended, close: () => controller.abort() };
}
