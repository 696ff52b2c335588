/**
 * The isolated executor process. Its host tells it on stdin where to listen and which token counts; it listens, hands back the
 * permission it needed for that, and serves one guest. It ends with its client, with stdin, or with its guest's last words.
 */
import type { IsolateStart } from "@executor/contracts/isolate-rpc";
import { LineReader } from "@executor/runtimes/rpc/line-reader";
import { writeMessage } from "@executor/runtimes/rpc/rpc-message";
import { takeEngine } from "./engine.ts";
import { RpcServer } from "./rpc-server.ts";
import { V8Machine } from "./v8-machine.ts";
import { warmUp } from "./warm-up.ts";

const maxStartBytes = 10_000;

const engine = takeEngine();
const input = readStart();

async function readStart(): Promise<void> {
  const reader = new LineReader(maxStartBytes, {
    line: (line) => void startServer(JSON.parse(line) as IsolateStart),
    tooLong: () => engine.exit(1),
  });
  const chunk = new Uint8Array(maxStartBytes);
  for (;;) {
    const length = await engine.readInput(chunk);
    if (length === null) return engine.exit(0);
    reader.push(chunk.subarray(0, length));
  }
}

async function startServer(start: IsolateStart): Promise<void> {
  await warmUp(engine);
  const machine = new V8Machine(engine);
  const listener = engine.listen(start.socketPath);
  engine.dropPermissions();
  const server = new RpcServer(engine, machine, start);
  void server.serve(() => listener.accept());
  const ready = writeMessage({ kind: "notification", method: "isolate.ready", params: {}, token: start.token });
  engine.writeNow(new TextEncoder().encode(ready));
}

void input;
