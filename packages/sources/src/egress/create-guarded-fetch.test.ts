/** The way out, attacked on loopback: addresses, names, redirects, bombs, headers (S11, S12, S13, S15, S18, R04). */
import { afterAll, describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { AppError } from "@executor/contracts/error";
import type { GuardedInit } from "@executor/core/ports/source";
import { createGuardedFetch, type EgressSettings } from "./create-guarded-fetch.ts";

const strict: EgressSettings = {
  allowLoopback: false,
  allowPrivate: [],
  ownPorts: () => [],
  userAgent: "executor/test",
};
const open: EgressSettings = { ...strict, allowLoopback: true };
const hello = Buffer.from("hello");
const encodings: Record<string, Buffer<ArrayBuffer>> = {
  gzip: gzipSync(hello),
  br: brotliCompressSync(hello),
  zstd: zstdCompressSync(hello),
  deflate: deflateSync(hello),
};
const bomb = gzipSync(Buffer.alloc(30_000_000));
const seen: { method: string; search: string; headers: Headers }[] = [];

const other = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request) {
    seen.push({ method: request.method, search: new URL(request.url).search, headers: request.headers });
    return new Response("other");
  },
});
const redirect = (location: string, status = 302) => new Response(null, { status, headers: { location } });
const pages: Record<string, (request: Request) => Response> = {
  "/cross": () => redirect(`http://127.0.0.1:${other.port}/x?api_key=S&q=1`),
  "/keep": () => redirect(`http://127.0.0.1:${other.port}/kept`, 307),
  "/metadata": () => redirect("http://169.254.169.254/latest"),
  "/file": () => redirect("file:///etc/passwd"),
  "/loop": () => redirect("/loop"),
  "/bomb": () => new Response(bomb, { headers: { "content-encoding": "gzip" } }),
  "/endless": () => new Response(new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(100_000)) })),
  "/double": () => new Response(gzipSync(gzipSync(hello)), { headers: { "content-encoding": "gzip, gzip" } }),
  "/strange": () => new Response(hello, { headers: { "content-encoding": "compress" } }),
  "/lies": () => new Response(hello, { headers: { "content-encoding": "br" } }),
  "/slow": () =>
    new Response(
      new ReadableStream({
        async pull(stream) {
          await Bun.sleep(50);
          stream.enqueue(new Uint8Array(1));
        },
      }),
    ),
  "/raw-deflate": () => new Response(deflateRawSync(hello), { headers: { "content-encoding": "deflate" } }),
  "/": (request) => new Response(`host ${request.headers.get("host")}`),
};
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request) {
    const { pathname } = new URL(request.url);
    const packed = encodings[pathname.slice("/packed/".length)];
    if (packed) return new Response(packed, { headers: { "content-encoding": pathname.slice("/packed/".length) } });
    return pages[pathname]?.(request) ?? new Response(null, { status: 404 });
  },
});
const url = `http://127.0.0.1:${server.port}`;
afterAll(async () => {
  await server.stop(true);
  await other.stop(true);
});

/** The code of the refusal, or the text that came. */
async function outcome(settings: EgressSettings, address: string, init: GuardedInit = {}): Promise<string> {
  try {
    return await (await createGuardedFetch(settings)(address, init)).text();
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

describe("addresses", () => {
  const refused = [
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://0177.0.0.1/",
    "http://0x7f.1/",
    "http://[::1]/",
    "http://0.0.0.0/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:a9fe:a9fe::]/",
    "http://[::ffff:0:10.0.0.1]/",
    "http://127.1/",
    "http://0/",
    "http://017700000001/",
    "http://0x7f000001/",
    "http://127.0.0.1./",
    "http://\uff11\uff12\uff17.\uff10.\uff10.\uff11/",
    "http://127\u30020\u30020\u30021/",
    "http://\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3/",
    "http://LOCALHOST/",
    "http://a.localhost/",
    "http://100.127.255.254/",
    "http://100.100.100.200/",
    "http://metadata.google.internal./",
    "http://instance-data/latest",
    "http://127.0.0.1:80@127.0.0.1/",
    "http://example.com@127.0.0.1/",
    "http:///127.0.0.1/",
    "data:text/plain,x",
    "ftp://example.com/",
    "javascript:1",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[2002:7f00:1::]/",
    "http://100.64.0.1/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://169.254.169.254/",
    "http://[fd00:ec2::254]/",
    "http://[fe80::1]/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://localhost./",
    "http://metadata.google.internal/",
    "file:///etc/passwd",
    "unix:/run/x",
    "http://user:pass@example.com/",
    "http://a\r\nb.example/",
  ];
  test.each(refused)("S11: %p is refused", async (address) => {
    expect(await outcome(strict, address)).toBe("egress.refused");
  });
  test("S11: metadata and our own port are refused whatever is allowed", async () => {
    const wide = { ...open, allowPrivate: ["0.0.0.0/0", "::/0", "metadata.google.internal"] };
    for (const address of [
      "http://169.254.169.254/",
      "http://100.100.100.200/",
      "http://[fd00:ec2::254]/",
      "http://metadata.google.internal/",
    ])
      expect([address, await outcome(wide, address)]).toEqual([address, "egress.refused"]);
    expect(await outcome({ ...wide, ownPorts: () => [server.port ?? 0] }, url)).toBe("egress.refused");
    expect(await outcome(wide, url)).toStartWith("host ");
  });
  test("S12: on a loopback installation a name of the DNS does not lead to this machine; localhost does", async () => {
    const lookup = async () => [{ address: "127.0.0.1", family: 4 as const }];
    expect(await outcome({ ...open, lookup }, `http://evil.test:${server.port}/`)).toBe("egress.refused");
    expect(await outcome(open, `http://localhost:${server.port}/`)).toBe(`host localhost:${server.port}`);
    expect(await outcome(open, `http://2130706433:${server.port}/`)).toStartWith("host ");
  });
  test("S12: every answer of a name is checked, and the connection goes to the one that was (rebinding)", async () => {
    const names =
      (...addresses: string[]) =>
      async () =>
        addresses.map((address) => ({ address, family: 4 as const }));
    expect(await outcome({ ...strict, lookup: names("127.0.0.1") }, "http://evil.test/")).toBe("egress.refused");
    expect(await outcome({ ...strict, lookup: names("93.184.216.34", "10.0.0.1") }, "http://evil.test/")).toBe(
      "egress.refused",
    );
    let asked = 0;
    const rebinding: EgressSettings = {
      ...open,
      allowPrivate: ["127.0.0.0/8"],
      lookup: async () => [{ address: asked++ === 0 ? "127.0.0.1" : "10.9.9.9", family: 4 }],
    };
    expect(await outcome(rebinding, `http://a.test:${server.port}/`)).toBe(`host a.test:${server.port}`);
    expect(asked).toBe(1);
  });
});

describe("redirects", () => {
  test("S13: where somebody on the internet says where to go, this machine is not reached, whatever is allowed", async () => {
    const wide = { ...open, allowPrivate: ["0.0.0.0/0", "localhost"] };
    for (const address of [url, `http://localhost:${server.port}/`])
      expect(await outcome(wide, address, { publicOnly: true })).toBe("egress.refused");
  });
  test("S13: are checked again, and end", async () => {
    for (const page of ["/metadata", "/file"])
      expect([page, await outcome(open, url + page)]).toEqual([page, "egress.refused"]);
    expect(await outcome(open, `${url}/loop`)).toBe("egress.failed");
  });
  test("S13: to another origin leave secrets behind, and a POST becomes a GET where it must", async () => {
    const headers = { authorization: "Bearer s", cookie: "c=1", "x-key": "k" };
    const init = { method: "POST", body: "b", headers, sensitive: { headers: ["X-Key"], query: ["api_key"] } };
    seen.length = 0;
    await outcome(open, `${url}/cross`, init);
    await outcome(open, `${url}/keep`, init);
    expect(seen.map(({ method, search }) => [method, search])).toEqual([
      ["GET", "?q=1"],
      ["POST", ""],
    ]);
    for (const { headers: sent } of seen)
      expect([sent.get("authorization"), sent.get("cookie"), sent.get("x-key")]).toEqual([null, null, null]);
  });
});

describe("bodies", () => {
  test("S15, S18: what was packed twice, or in a way nobody asked for, is refused", async () => {
    for (const page of ["/double", "/strange", "/lies"])
      expect([page, await outcome(open, url + page)]).toEqual([page, "egress.failed"]);
  });
  test("S18: an answer that is shorter than it says, or breaks off, is an error and no short answer", async () => {
    for (const answer of [
      "Content-Length: 500\r\n\r\nshort",
      "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nffff\r\nx",
    ]) {
      const cutting = createServer((socket) => {
        socket.on("error", () => undefined);
        socket.on("data", () => socket.end(`HTTP/1.1 200 OK\r\n${answer}`));
      });
      await new Promise<void>((resolve) => cutting.listen(0, "127.0.0.1", resolve));
      const address = `http://127.0.0.1:${(cutting.address() as AddressInfo).port}/`;
      expect([answer, await outcome(open, address)]).toEqual([answer, "egress.failed"]);
      cutting.close();
    }
  });
  test("R04: a name that does not resolve, and a server that speaks no TLS, are said", async () => {
    const gone = createGuardedFetch({ ...open, lookup: () => Promise.reject(new Error("ENOTFOUND")) });
    expect(await gone("http://gone.test/").catch((error: unknown) => error)).toMatchObject({
      code: "egress.failed",
      data: { sent: false },
    });
    expect(await outcome(open, `https://127.0.0.1:${server.port}/`)).toBe("egress.failed");
  });
  test("S15, S18: bombs, endless and slow ones are cut", async () => {
    expect(await outcome(open, `${url}/bomb`, { maxBytes: 1_000_000 })).toBe("egress.too_large");
    expect(await outcome(open, `${url}/endless`, { maxBytes: 1_000_000 })).toBe("egress.too_large");
    expect(await outcome(open, `${url}/slow`, { timeoutMs: 200 })).toBe("egress.timeout");
  });
  test.each([...Object.keys(encodings).map((name) => `/packed/${name}`), "/raw-deflate"])(
    "%s is unpacked",
    async (page) => {
      expect(await outcome(open, url + page)).toBe("hello");
    },
  );
  test.each(["POST", "PUT", "DELETE"])("a %s whose connection is cut is not sent again", async (method) => {
    let requests = 0;
    const cutting = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.on("data", () => {
        requests++;
        if (requests === 1) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        else socket.destroy();
      });
    });
    await new Promise<void>((resolve) => cutting.listen(0, "127.0.0.1", resolve));
    const address = `http://127.0.0.1:${(cutting.address() as AddressInfo).port}/`;
    const fetch = createGuardedFetch(open);
    await (await fetch(address)).text();
    const failed = await fetch(address, sending(method)).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: "egress.failed" });
    expect(requests).toBe(2);
    cutting.close();
  });
});

function sending(method: string): RequestInit {
  return { method, body: "x" };
}

test("S16: headers that carry the request, or would begin another, are refused", async () => {
  const refused: Record<string, string>[] = [
    { host: "x" },
    { "content-length": "1" },
    { "x-a": "b\r\nc: d" },
    { "a b": "c" },
  ];
  for (const headers of refused)
    expect([headers, await outcome(open, url, { headers })]).toEqual([headers, "egress.refused"]);
});

test("a method that the engine would send as GET, or that opens a tunnel, is refused", async () => {
  for (const method of ["LIST", "FOO", "CONNECT", "GET /x"])
    expect([method, await outcome(open, url, { method })]).toEqual([method, "egress.refused"]);
});

test("an error holds no query, and says whether anything was sent", async () => {
  const error = await createGuardedFetch(open)("http://127.0.0.1:1/p?key=canary").catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: "egress.failed", data: { sent: false } });
  expect(JSON.stringify([(error as AppError).message, (error as AppError).data])).not.toContain("canary");
});
