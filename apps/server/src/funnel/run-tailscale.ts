/** Runs the `tailscale` program, never for long: some of its commands wait for ever for something to be switched on elsewhere. */

export interface Ran {
  /** Null: it was ended because it took too long. */
  code: number | null;
  text: string;
  stdout: string;
}
export type RunTailscale = (args: readonly string[], timeoutMs?: number) => Promise<Ran>;

/** Null: it is not installed. */
export function findTailscale(path: string | undefined): RunTailscale | null {
  const program = Bun.which("tailscale", path === undefined ? {} : { PATH: path });
  return program === null ? null : (args, timeoutMs = 5_000) => run([program, ...args], path, timeoutMs);
}

async function run(cmd: string[], path: string | undefined, timeoutMs: number): Promise<Ran> {
  const child = Bun.spawn(cmd, {
    stdio: ["ignore", "pipe", "pipe"],
    // Nothing of ours: it needs no secret. HOME for where some systems keep its socket.
    env: { ...(path !== undefined && { PATH: path }) },
  });
  const chunks = { out: "", err: "" };
  const reading = [
    collect(child.stdout, (text) => (chunks.out += text)),
    collect(child.stderr, (text) => (chunks.err += text)),
  ];
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, timeoutMs);
  const code = await child.exited;
  clearTimeout(timer);
  // A grandchild may hold the pipes open after the program itself is gone.
  await Promise.race([Promise.all(reading), Bun.sleep(200)]);
  return { code: isLate ? null : code, stdout: chunks.out, text: `${chunks.out}\n${chunks.err}`.trim() };
}

async function collect(stream: ReadableStream<Uint8Array>, add: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) add(decoder.decode(chunk, { stream: true }));
}
