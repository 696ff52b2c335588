/** Stands in for the isolate's program: an engine that keeps a permission, and that answers a guest with what no isolate would say. */
type Deno = {
  listen(options: object): {
    accept(): Promise<{ read(into: Uint8Array): Promise<number | null>; write(bytes: Uint8Array): Promise<number> }>;
  };
  stdin: { read(into: Uint8Array): Promise<number | null> };
  stdout: { writeSync(bytes: Uint8Array): number };
};
const { Deno: deno } = globalThis as unknown as { Deno: Deno };
const encode = (message: object) => new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const chunk = new Uint8Array(100_000);
const readLine = async (from: { read(into: Uint8Array): Promise<number | null> }) =>
  JSON.parse(new TextDecoder().decode(chunk.subarray(0, (await from.read(chunk)) ?? 0))) as Record<string, string>;

async function main(): Promise<void> {
  const { socketPath, token } = await readLine(deno.stdin);
  const listener = deno.listen({ transport: "unix", path: socketPath });
  deno.stdout.writeSync(encode({ token, method: "isolate.ready" }));
  const host = await listener.accept();
  await readLine(host);
  await host.write(
    encode({ token, id: "ping", result: { pong: true, protocol: 2, engine: "fake", granted: ["net"] } }),
  );
  const run = (await readLine(host)) as unknown as { params: { sessionToken: string; script: string } };
  const session = run.params.sessionToken;
  if (run.params.script.includes("wrong token"))
    await host.write(encode({ token: "another", method: "guest.idle", params: {} }));
  else if (run.params.script.includes("wrong call"))
    await host.write(
      encode({ token: session, id: 7, method: "tool.call", params: { path: "a", inputJson: "{}", after: 0 } }),
    );
  else await host.write(encode({ token: session, method: "guest.idle", params: { applied: "x" } }));
  await new Promise(() => undefined);
}
void main();
setInterval(() => undefined, 1_000);
