/**
 * Server-sent events out of bytes that come in any pieces: a chunk may end within a character, a line ending or a message.
 * Follows the WHATWG rules: lines end with LF, CR or CRLF; a colon begins a comment; data lines are joined by LF;
 * an unfinished message at the end of the stream is dropped (it is sent again after a resume).
 */
export interface SseMessage {
  /** The last id the stream has named up to here. */
  id: string | undefined;
  /** Absent: the block had no data, only an id or a pause. */
  data: string | undefined;
  /** The pause before a reconnect that the server asks for. */
  retryMs: number | undefined;
}

export interface SseParser {
  push(bytes: Uint8Array): SseMessage[];
}

export function createSseParser(): SseParser {
  const decoder = new TextDecoder();
  /** Pieces of a line that has not ended yet, joined once: adding to one string would make long lines quadratic. */
  let pieces: string[] = [];
  let endedWithCr = false;
  let id: string | undefined;
  let data: string[] = [];
  let retryMs: number | undefined;
  let isEmpty = true;

  const readField = (line: string) => {
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    isEmpty = false;
    if (name === "data") data.push(value);
    else if (name === "id" && !value.includes("\0")) id = value;
    else if (name === "retry" && /^\d+$/.test(value)) retryMs = Number(value);
  };

  const endMessage = (): SseMessage | undefined => {
    const message = isEmpty ? undefined : { id, data: data.length > 0 ? data.join("\n") : undefined, retryMs };
    data = [];
    retryMs = undefined;
    isEmpty = true;
    return message;
  };

  const endLine = (line: string): SseMessage | undefined => {
    if (line === "") return endMessage();
    readField(line);
    return undefined;
  };

  return {
    push(bytes) {
      const text = decoder.decode(bytes, { stream: true });
      const messages: SseMessage[] = [];
      if (text === "") return messages;
      // A CR at the end of the last chunk has ended its line; the LF that follows belongs to it.
      const lines = (endedWithCr && text.startsWith("\n") ? text.slice(1) : text).split(/\r\n|\r|\n/);
      endedWithCr = text.endsWith("\r");
      const rest = lines.pop() ?? "";
      for (const line of lines) {
        const message = endLine(pieces.length > 0 ? pieces.join("") + line : line);
        pieces = [];
        if (message) messages.push(message);
      }
      if (rest) pieces.push(rest);
      return messages;
    },
  };
}
