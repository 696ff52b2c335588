/**
 * A long event log over HTTP: read raw and by the SDK, against a bare stream of the same bytes; and what the server holds
 * for clients that ask for the log and never read it.
 */
import { rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { createExecutor } from "@executor/client";
import { writeTaskOfEvents } from "../src/bulk-tasks.ts";
import { readTreeAloneMb, startChild } from "../src/child-process.ts";
import { type Figure, type FigureOptions, makeRow, type Row } from "../src/figure.ts";
import { type Api, bareServerMain, type Installation, makeTempDir, openInstallation } from "../src/installation.ts";
import { p50, sampleInTurn, timeMs } from "../src/samples.ts";

const silentClients = 20;

export const eventsFigure: Figure = {
  name: "events",
  means: "events of one long task over SSE",
  async measure(options) {
    const product = await openInstallation();
    const directory = makeTempDir();
    try {
      const count = options.quick ? 20_000 : 100_000;
      const taskId = await writeTaskOfEvents(product.home, product.owner.workspaceId, count);
      const path = `/api/tasks/${taskId}/events`;
      const file = join(directory, "events.txt");
      writeFileSync(file, await (await openStream(product.owner, path)).bytes());
      return [...(await measureReaders(product, { taskId, path, file, count }, options)), await measureSilent(options)];
    } finally {
      await product.close();
      rmSync(directory, { recursive: true, force: true });
    }
  },
};

async function measureReaders(
  product: Installation,
  log: { taskId: string; path: string; file: string; count: number },
  { quick }: FigureOptions,
): Promise<Row[]> {
  const bare = startChild(bareServerMain, { args: [log.file] });
  try {
    const { port } = await bare.said("server.listening");
    const bareApi: Api = { ...product.owner, baseUrl: `http://127.0.0.1:${port}` };
    const { baseUrl, token } = product.owner;
    const sdk = createExecutor({ baseUrl, token });
    const rate = async (read: () => Promise<number>): Promise<number> => {
      let events = 0;
      const ms = await timeMs(async () => (events = await read()));
      if (events !== log.count) throw new Error(`read ${events} of ${log.count} events`);
      return (events * 1_000) / ms;
    };
    const samples = await sampleInTurn(
      {
        floor: () => rate(() => countRaw(bareApi, "/stream")),
        raw: () => rate(() => countRaw(product.owner, log.path)),
        sdk: () =>
          rate(async () => await Array.fromAsync(sdk.tasks.events(log.taskId)).then((events) => events.length)),
      },
      { rounds: quick ? 2 : 5, warmUp: 1 },
    );
    const row = (figure: string, product_: number[]): Row =>
      makeRow({
        figure,
        unit: "events/s",
        floor: p50(samples.floor),
        product: p50(product_),
        aim: "none set",
        isMet: () => null,
        note: `${log.count} events; floor = a bare stream of the same bytes, read raw`,
      });
    return [row("events/raw", samples.raw), row("events/sdk", samples.sdk)];
  } finally {
    await bare.stop();
  }
}

async function countRaw(api: Api, path: string): Promise<number> {
  const response = await openStream(api, path);
  const marker = Buffer.from("\ndata: ");
  let events = 0;
  let tail: Buffer = Buffer.alloc(0);
  for await (const chunk of response.body ?? []) {
    const bytes = Buffer.concat([tail, chunk]);
    for (let at = bytes.indexOf(marker); at >= 0; at = bytes.indexOf(marker, at + 1)) events++;
    tail = bytes.subarray(Math.max(0, bytes.length - marker.length + 1));
  }
  return events;
}

const openStream = (api: Api, path: string): Promise<Response> =>
  fetch(api.baseUrl + path, { headers: { authorization: `Bearer ${api.token}` } });

/**
 * Clients that ask for the whole log and read nothing, on servers that did nothing before: a heap that other readers made
 * large would hide what these cost. Bounded means that twice the log costs no more.
 */
async function measureSilent({ quick }: FigureOptions): Promise<Row> {
  const count = quick ? 50_000 : 100_000;
  const half = await growUnderSilent(count / 2);
  const whole = await growUnderSilent(count);
  return makeRow({
    figure: "events/silent",
    unit: "MB more",
    floor: half,
    product: whole,
    aim: "bounded: <= 1.5x",
    isMet: ({ ratio }) => ratio <= 1.5,
    note: `${silentClients} clients that never read, peak growth of a fresh server; floor = the same with half of the ${count} events`,
  });
}

async function growUnderSilent(events: number): Promise<number> {
  const product = await openInstallation();
  try {
    const taskId = await writeTaskOfEvents(product.home, product.owner.workspaceId, events);
    const memory = (): number => readTreeAloneMb([product.server.pid]);
    const before = memory();
    const sockets = await Promise.all(
      Array.from({ length: silentClients }, () => openSilent(product.owner, `/api/tasks/${taskId}/events`)),
    );
    let most = before;
    for (let look = 0; look < 40; look++) {
      await Bun.sleep(50);
      most = Math.max(most, memory());
    }
    await Promise.all(sockets.map(expectServed));
    return most - before;
  } finally {
    await product.close();
  }
}

async function openSilent({ baseUrl, token }: Api, path: string): Promise<Socket> {
  const { hostname, port, host } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  socket.on("error", () => undefined);
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n\r\n`);
  return socket;
}

/** A client that was refused costs nothing either: what waited for it must be a stream. */
async function expectServed(socket: Socket): Promise<void> {
  const first = await new Promise<Buffer>((resolve) => {
    socket.once("data", resolve);
    socket.resume();
  });
  socket.destroy();
  if (!first.toString("latin1").startsWith("HTTP/1.1 200"))
    throw new Error(`a silent client was answered ${first.subarray(0, 100).toString("latin1")}`);
}
