/** The worst of upstreams: it repeats every secret it is sent, in every form it can think of, and fails in every way. */
import { gzipSync } from "node:zlib";

export interface EchoServer {
  url: string;
  /** Everything that could be a secret, as it came. */
  got: Set<string>;
  stop(): Promise<void>;
}

const forms: Record<string, (told: string, other: string) => Response> = {
  json: (told) => Response.json({ told, [told]: 1 }),
  text: (told) => new Response(told),
  html: (told) => page(`<p>${told.replace(/./gsu, (each) => `&#x${each.codePointAt(0)?.toString(16)};`)}</p>`),
  headers: (told) =>
    Response.json(
      {},
      { headers: { "x-told": encodeURIComponent(told), "set-cookie": `a=${encodeURIComponent(told)}` } },
    ),
  e401: (told) => Response.json({ message: told }, { status: 401, headers: { "www-authenticate": "Bearer" } }),
  e403: (told) => new Response(told, { status: 403 }),
  e500: (told) => Response.json({ error: { message: told, told: [told] } }, { status: 500 }),
  e422: (told) => page(`<h1>${told}</h1>`, 422),
  base64: (told) => Response.json({ told: btoaUtf8(told) }),
  base64shifted: (told) => Response.json([btoaUtf8(` ${told}`), btoaUtf8(`  ${told}`)]),
  base64url: (told) => new Response(Buffer.from(told).toString("base64url")),
  percent: (told) => Response.json({ told: encodeURIComponent(told) }),
  percentTwice: (told) => new Response(encodeURIComponent(encodeURIComponent(told))),
  escaped: (told) => json(`{"told":"${escape(told)}"}`),
  nested: (told) => Response.json({ log: JSON.stringify({ line: JSON.stringify({ told }) }) }),
  hex: (told) => Response.json({ told: Buffer.from(told).toString("hex") }),
  HEX: (told) => new Response(Buffer.from(told).toString("hex").toUpperCase()),
  gzip: (told) =>
    new Response(gzipSync(JSON.stringify({ told })), {
      headers: { "content-encoding": "gzip", "content-type": "application/json" },
    }),
  chunks: (told) =>
    new Response(inPieces(JSON.stringify({ told })), { headers: { "content-type": "application/json" } }),
  events: (told) =>
    new Response(inPieces(`event: a\ndata: {"told":"${escape(told)}"}\n\ndata: ${told}\n\n`), {
      headers: { "content-type": "text/event-stream" },
    }),
  badJson: (told) => json(`{"told": ${told}`),
  binary: (told) =>
    new Response(Buffer.from(told, "utf16le"), { headers: { "content-type": "application/octet-stream" } }),
  redirect: (told, other) =>
    new Response(null, { status: 302, headers: { location: `${other}/landed?told=${encodeURIComponent(told)}` } }),
  redirectNowhere: (told) =>
    new Response(told, { status: 302, headers: { location: `http://127.0.0.1:1/${encodeURIComponent(told)}` } }),
  redirectBad: (told) =>
    new Response(told, { status: 302, headers: { location: `javascript:${encodeURIComponent(told)}` } }),
  packedBadly: (told) => new Response(told, { headers: { "content-encoding": "gzip" } }),
};
/** Those that a caller tries again and again before it gives up. */
const slow = new Set(["redirectNowhere", "e500", "packedBadly"]);
export const echoForms = Object.keys(forms);
export const quickForms = echoForms.filter((form) => !slow.has(form));

export function startEchoServer({ guardsDocument = false } = {}): EchoServer {
  const got = new Set<string>();
  const landing = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => Response.json({ landed: request.url, headers: [...request.headers] }),
  });
  const other = `http://127.0.0.1:${landing.port}`;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const secrets = secretsOf(request);
      for (const secret of secrets) got.add(secret);
      const told = secrets.join(" ");
      if (pathname === "/openapi.json") {
        if (guardsDocument && told === "") return new Response("who are you?", { status: 401 });
        return Response.json(document(told));
      }
      if (pathname === "/broken.json") return new Response(`${told} {{{`, { status: told === "" ? 401 : 200 });
      if (pathname === "/failing.json") return new Response(told, { status: told === "" ? 403 : 500 });
      if (pathname === "/never") return await new Promise<Response>(() => undefined);
      if (pathname === "/graphql") return Response.json({ errors: [{ message: `no: ${told}` }], data: null });
      const form = pathname.split("/").at(-1) ?? "";
      return forms[form]?.(told, other) ?? new Response(null, { status: 404 });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    got,
    async stop() {
      await server.stop(true);
      await landing.stop(true);
    },
  };
}

/** Whole values, and what is in them. */
function secretsOf(request: Request): string[] {
  const values: string[] = [];
  for (const [name, value] of request.headers) {
    if (/^(accept|accept-encoding|connection|host|user-agent|content-(type|length))$/.test(name)) continue;
    const text = Buffer.from(value, "latin1").toString("utf8");
    values.push(
      ...(name === "cookie"
        ? value.split("; ").map((pair) => pair.slice(pair.indexOf("=") + 1))
        : [text.replace(/^(Bearer|Basic) /, "")]),
    );
    const [, pair] = /^Basic (.+)$/.exec(value) ?? [];
    if (pair) values.push(...Buffer.from(pair, "base64").toString("utf8").split(":"));
  }
  return [...values, ...new URL(request.url).searchParams.values()].filter((value) => value.length > 3);
}

function document(told: string): object {
  const responses = { 200: { description: "ok" } };
  const form = { name: "form", in: "path", required: true, schema: { type: "string" } };
  return {
    openapi: "3.1.0",
    info: { title: `Echo ${told}`, version: "1", description: told },
    paths: {
      "/echo/{form}": {
        get: { operationId: "echo", tags: ["echo"], summary: `Echo ${told}`, parameters: [form], responses },
      },
      "/write/{form}": {
        post: { operationId: "write", tags: ["echo"], description: told, parameters: [form], responses },
      },
      "/never": { get: { operationId: "never", tags: ["echo"], responses } },
    },
  };
}

const json = (body: string): Response => new Response(body, { headers: { "content-type": "application/json" } });
const page = (body: string, status = 200): Response =>
  new Response(body, { status, headers: { "content-type": "text/html" } });
const btoaUtf8 = (text: string): string => Buffer.from(text).toString("base64");
const escape = (text: string): string =>
  text.replace(/[^]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);

function inPieces(text: string): ReadableStream<Uint8Array> {
  const bytes = Buffer.from(text);
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      await Bun.sleep(1);
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(at, (at += 7)));
    },
  });
}
