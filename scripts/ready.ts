/**
 * Says once, in one friendly line, where the product can be opened: after the server says that it listens
 * and its health answers. The log line is the proof, for an answer alone could come from another Executor on that port.
 */
const POLL_MS = 150;

/** Give it every line that the server prints. */
export function announceReady(): (line: string) => void {
  let isSaid = false;
  let listening: number | undefined;
  return (line) => {
    const port = isSaid ? undefined : readListeningPort(line);
    if (port === undefined) return;
    listening = port;
    // A server that died before it was healthy listens again, perhaps elsewhere: only its newest port counts.
    void waitForHealth(port, () => listening === port && !isSaid).then((url) => {
      if (!url) return;
      isSaid = true;
      console.log(`Executor is ready: ${url}`);
    });
  };
}

/** The port in `{"msg":"server.listening","port":8788,…}`, or undefined for any other line. */
export function readListeningPort(line: string): number | undefined {
  if (!line.includes("server.listening")) return undefined;
  try {
    const entry = JSON.parse(line) as { msg?: unknown; port?: unknown };
    return entry.msg === "server.listening" && typeof entry.port === "number" ? entry.port : undefined;
  } catch {
    return undefined;
  }
}

/** An address to connect to: "every interface" is one to listen on only. */
export function urlFor(host: string | undefined, port: number): string {
  const isWildcard = !host || host === "0.0.0.0" || host === "::" || host === "[::]";
  const name = isWildcard ? "127.0.0.1" : host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

async function waitForHealth(port: number, isWanted: () => boolean): Promise<string | undefined> {
  const url = urlFor(process.env["EXECUTOR_HOST"], port);
  while (isWanted()) {
    if (await isHealthy(url)) return url;
    await Bun.sleep(POLL_MS);
  }
  return undefined;
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/api/health`, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
}
