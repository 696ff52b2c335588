/** Lists come in pages; `eachItem` walks through all of them, one request at a time, as far as the caller reads. */
import { ExecutorError } from "./error.ts";

export interface Page<T> {
  items: T[];
  /** Absent on the last page. */
  nextCursor?: string;
}

export async function* eachItem<T>(
  readPage: (cursor: string | undefined) => Promise<Page<T>>,
  cursor?: string,
): AsyncGenerator<T, void, undefined> {
  for (let next = cursor; ;) {
    const page = await readPage(next);
    yield* page.items;
    if (page.nextCursor === undefined) return;
    // Else a faulty server would send us round and round.
    if (page.nextCursor === next) throw new ExecutorError("client.bad_answer", "the next page is the same page again");
    next = page.nextCursor;
  }
}
