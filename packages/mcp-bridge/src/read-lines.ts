/** Bytes as lines, whatever the chunks; a line that gets too long is dropped whole, and said so. */
const MAX_LINE = 16_000_000;

export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  onTooLong: () => void = () => undefined,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  let isDropping = false;
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
      const line = rest.slice(0, end).replace(/\r$/, "");
      rest = rest.slice(end + 1);
      if (!isDropping) yield line;
      isDropping = false;
    }
    if (rest.length > MAX_LINE) {
      if (!isDropping) onTooLong();
      isDropping = true;
      rest = "";
    }
  }
  if (rest !== "" && !isDropping) yield rest;
}
