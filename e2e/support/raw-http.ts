/** Requests byte by byte: what fetch would tidy up, refuse to send, or send all at once. */
import { connect, type Socket } from "node:net";

export interface RawAnswer {
  /** 0 when the connection was closed without an answer. */
  status: number;
  text: string;
}

/** Sends `head` (lines of the request without the empty one) and reads until the server closes or has answered. */
export async function sendRaw(
  port: number,
  head: string[],
  body: string | Uint8Array = "",
  timeoutMs = 5_000,
): Promise<RawAnswer> {
  const socket = await openSocket(port);
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  if (body.length > 0) socket.write(body);
  return await readAnswer(socket, timeoutMs);
}

export async function openSocket(port: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect(port, "127.0.0.1", () => resolve(socket));
  socket.on("error", reject);
  const opened = await promise;
  opened.removeAllListeners("error");
  opened.on("error", () => undefined);
  return opened;
}

export async function readAnswer(socket: Socket, timeoutMs = 5_000): Promise<RawAnswer> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let text = "";
  const timer = setTimeout(resolve, timeoutMs);
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    if (isWhole(text)) resolve();
  });
  socket.on("close", () => resolve());
  await promise;
  clearTimeout(timer);
  socket.destroy();
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), text };
}

function isWhole(text: string): boolean {
  const at = text.indexOf("\r\n\r\n");
  const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
  return at >= 0 && length !== undefined && text.length >= at + 4 + Number(length);
}
