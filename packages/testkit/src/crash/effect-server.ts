/** A loopback server that counts what really happened: the judge of the crash tests. */

export interface EffectServer {
  url: string;
  /** How often the effect with this name happened. */
  count(name: string): number;
  stop(): Promise<void>;
}

export function startEffectServer(): EffectServer {
  const counts = new Map<string, number>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { name } = (await request.json()) as { name: string };
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return Response.json({ name, count: counts.get(name) });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/`,
    count: (name) => counts.get(name) ?? 0,
    stop: async () => await server.stop(true),
  };
}
