/**
 * JSON-RPC 2.0 with Content-Length frames, as the compiler speaks it. Knows nothing of compilers: bytes in, messages out, and
 * which answer belongs to which request. A frame that announces too much ends the connection.
 */

type Json = Record<string, unknown>;

export interface RpcConnection {
  request(method: string, params: unknown): Promise<unknown>;
  /** Bytes as they come from the other side. */
  receive(chunk: Uint8Array): void;
  /** Whatever is still open fails with this. */
  fail(reason: Error): void;
}

export interface RpcOptions {
  write(frame: Buffer): void;
  /** Answers a request of the other side. */
  serve(method: string, params: unknown): unknown;
  onBroken(reason: Error): void;
}

const MAX_FRAME_BYTES = 20_000_000;
const MAX_HEADER_BYTES = 1_000;

export function createRpcConnection({ write, serve, onBroken }: RpcOptions): RpcConnection {
  const open = new Map<number, { resolve(value: unknown): void; reject(reason: Error): void }>();
  let nextId = 1;
  let buffered: Buffer = Buffer.alloc(0);

  const send = (message: Json): void => {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]));
  };

  const answer = (message: Json): void => {
    if (typeof message["method"] === "string" && message["id"] !== undefined) {
      send({ id: message["id"], result: serve(message["method"], message["params"]) ?? null });
      return;
    }
    const waiting = open.get(Number(message["id"]));
    if (!waiting) return;
    open.delete(Number(message["id"]));
    const error = message["error"] as { message?: string } | undefined;
    if (error) waiting.reject(new Error(String(error.message).slice(0, 500)));
    else waiting.resolve(message["result"]);
  };

  return {
    request(method, params) {
      const id = nextId++;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      open.set(id, { resolve, reject });
      send({ id, method, params });
      return promise;
    },
    receive(chunk) {
      buffered = buffered.length === 0 ? Buffer.from(chunk) : Buffer.concat([buffered, chunk]);
      try {
        for (let frame = takeFrame(); frame !== null; frame = takeFrame())
          answer(JSON.parse(frame.toString("utf8")) as Json);
      } catch (error) {
        onBroken(error as Error);
      }
    },
    fail(reason) {
      for (const { reject } of open.values()) reject(reason);
      open.clear();
    },
  };

  /** Null while it is not all there. */
  function takeFrame(): Buffer | null {
    const headerEnd = buffered.indexOf("\r\n\r\n");
    if (headerEnd < 0) {
      if (buffered.length > MAX_HEADER_BYTES) throw new Error("the compiler sent no header");
      return null;
    }
    const length = Number(/content-length: *(\d+)/i.exec(buffered.subarray(0, headerEnd).toString("latin1"))?.[1]);
    if (!(length <= MAX_FRAME_BYTES)) throw new Error("the compiler sent a frame that is too large");
    const start = headerEnd + 4;
    if (buffered.length < start + length) return null;
    const frame = buffered.subarray(start, start + length);
    buffered = buffered.subarray(start + length);
    return frame;
  }
}
