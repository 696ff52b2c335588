import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { buildEngineImage, type EngineImage, startVm } from "../in-process/quickjs-vm.ts";
import { GuestRun } from "./guest-run.ts";

let image: EngineImage;
beforeAll(() => {
  image = buildEngineImage(
    new WebAssembly.Module(readFileSync(Bun.resolveSync("quickjs-wasi/quickjs.wasm", import.meta.dir))),
  );
});

/** Runs code of this test in a machine of this process and gives its result. */
function evaluate(body: string): unknown {
  const limits = {
    cpuMs: 10_000,
    memoryBytes: 64_000_000,
    outputBytes: 100_000,
    calls: 100,
    callInputBytes: 100_000,
    resultBytes: 1_000_000,
  };
  const run = new GuestRun({
    start: (host) => startVm(image, limits.memoryBytes, host),
    script: new TextEncoder().encode(`(async () => {${body}\n});`),
    seed: "1".repeat(32),
    startMs: 0,
    limits,
    readCpuMs: () => 0,
  });
  const turn = run.advance([], []);
  if (turn.end?.kind !== "returned") throw new Error(JSON.stringify(turn.end));
  return JSON.parse(new TextDecoder().decode(turn.result));
}

const urls: [string, string?][] = [
  ["https://example.com"],
  ["HTTP://EXAMPLE.com:80/A/../b/./c?x=1#y"],
  ["https://u:p%40@host.example:8443/p a/?q=ä b#f g"],
  ["//other/x", "https://base/a/b"],
  ["../x?y", "https://base/a/b/c"],
  ["?only", "https://base/a?b#c"],
  ["#frag", "https://base/a?b#c"],
  ["", "https://base/a?b#c"],
  ["x/y/../z/", "https://base/a/b"],
  ["mailto:a@b.c?subject=x y"],
  ["data:text/plain,hi there"],
  ["javascript:alert(1)"],
  ["file:///etc/passwd"],
  ["file:/a/b"],
  ["http://[::1]:3000/x"],
  ["http://[2001:DB8:0:0:1:0:0:1]/"],
  ["http://[::ffff:1.2.3.4]/"],
  ["http://127.1/"],
  ["http://0x7f.0.0.1/"],
  ["http://256.1.1.1/"],
  ["http://1.2.3.4.5/"],
  ["http://exa mple/"],
  ["http://"],
  ["no url"],
  ["http://a:99999/"],
  ["http://a:b/"],
  ["https:\\\\back\\slash\\x"],
  ["  https://trim.me/ \n"],
  ["ht\ntp://li\tne/"],
  ["https://h/%7Efoo/%zz?a=%20&b=%"],
  ["custom://Host/Path?x#y"],
  ["custom:/a/../b"],
  ["custom:opaque path"],
  ["wss://h:443/s"],
  ["https://h/a/b/../../../c"],
  ["https://h/a/%2e%2E/b"],
  ["https:relative", "https://base/dir/file"],
  ["https://user@h"],
  ["https://:pw@h/"],
  ["https://h?x'y"],
  ["/abs", "custom://h/x"],
  ["x", "mailto:a@b"],
  ["https://h/😀?😀#😀"],
  ["http://h:080/"],
  ["http://h./x"],
  ["http://%65xample.com"],
  ['https://h/|^`{}"<>'],
];
const urlFields = [
  "href",
  "origin",
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
  "search",
  "hash",
] as const;

describe("the prelude", () => {
  test.each(urls.map(([input, base]) => ({ input, base })))(
    "URL agrees with the platform on $input",
    ({ input, base }) => {
      let expected: unknown = "invalid";
      try {
        const url = new URL(input, base);
        expected = Object.fromEntries(urlFields.map((field) => [field, url[field]]));
      } catch {
        // It stays invalid.
      }
      const got = evaluate(
        `try { const u = new URL(${JSON.stringify(input)}, ${JSON.stringify(base)}); return Object.fromEntries(${JSON.stringify(urlFields)}.map((f) => [f, u[f]])); } catch { return "invalid"; }`,
      );
      expect(got).toEqual(expected);
    },
  );

  test.each([
    ["u.pathname = '/a b/../c'"],
    ["u.search = '?x=ä&y'"],
    ["u.search = ''"],
    ["u.hash = 'z z'"],
    ["u.host = 'other:99'"],
    ["u.hostname = 'third.example'"],
    ["u.port = '443'"],
    ["u.port = '8'"],
    ["u.protocol = 'http'"],
    ["u.protocol = 'mailto'"],
    ["u.username = 'a@b'"],
    ["u.searchParams.append('n', '1 2&3')"],
    ["u.searchParams.delete('q')"],
    ["u.searchParams.set('q', '9'); u.searchParams.sort()"],
    ["u.href = 'https://new/?k=v'; u.searchParams.append('a', 'b')"],
    ["for (const [k] of [...u.searchParams]) u.searchParams.delete(k)"],
  ])("URL changes like the platform's: %s", (change) => {
    const program = `const u = new URL("https://h.example/p?q=1&z=2&q=3#f"); ${change}; return [u.href, String(u.searchParams), u.searchParams.getAll("q"), u.searchParams.size];`;
    expect(evaluate(program)).toEqual(JSON.parse(JSON.stringify(new Function(program)())));
  });

  test.each([["a=1&b=2&a=3"], ["?lead=1"], ["plus=a+b&pct=%C3%A4&bad=%zz&&=empty&noval"], ["ä=ö&😀=1"]])(
    "URLSearchParams reads %s",
    (text) => {
      expect(evaluate(`const p = new URLSearchParams(${JSON.stringify(text)}); return [[...p], String(p)];`)).toEqual([
        [...new URLSearchParams(text)],
        String(new URLSearchParams(text)),
      ]);
    },
  );

  test("TextDecoder agrees with the platform on broken bytes", () => {
    const cases = [
      [0xc3, 0xa4],
      [0xff, 0x41],
      [0xe2, 0x82],
      [0xe2, 0x82, 0x41],
      [0xf0, 0x9f, 0x98, 0x80],
      [0xf0, 0x9f, 0x98],
      [0xed, 0xa0, 0x80],
      [0xc0, 0x80],
      [0xef, 0xbb, 0xbf, 0x41],
      [0xf4, 0x90, 0x80, 0x80],
      [0xe0, 0x80, 0x80],
    ];
    const got = evaluate(
      `return ${JSON.stringify(cases)}.map((bytes) => { let fatal = "ok"; try { new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(bytes)); } catch { fatal = "refused"; } return [new TextDecoder().decode(new Uint8Array(bytes)), fatal]; });`,
    );
    expect(got).toEqual(
      cases.map((bytes) => {
        let fatal = "ok";
        try {
          new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(bytes));
        } catch {
          fatal = "refused";
        }
        return [new TextDecoder().decode(new Uint8Array(bytes)), fatal];
      }),
    );
    expect(
      evaluate(
        `const d = new TextDecoder(); const all = new TextEncoder().encode("aä😀z"); let t = ""; for (const b of all) t += d.decode(new Uint8Array([b]), { stream: true }); return t + d.decode();`,
      ),
    ).toBe("aä😀z");
  });

  test("structuredClone copies what it can and refuses the rest", () => {
    expect(
      evaluate(`const b = new ArrayBuffer(4); const c = structuredClone({ v: new Uint16Array(b), w: new DataView(b), e: new RangeError("r"), r: /x/gi, n: Object(5), u: undefined, a: [1, , 3] });
      return [c.v.buffer === c.w.buffer, c.v.buffer !== b, c.e instanceof RangeError, c.e.message, String(c.r), +c.n, "u" in c, 1 in c.a];`),
    ).toEqual([true, true, true, "r", "/x/gi", 5, true, false]);
    expect(
      evaluate(
        `return [() => {}, Symbol(), { a: () => {} }, Promise.resolve()].map((v) => { try { structuredClone(v); return "copied"; } catch (e) { return e.name; } });`,
      ),
    ).toEqual(Array.from({ length: 4 }, () => "DataCloneError"));
  });

  test("Math.random is in range and spread out", () => {
    const [low, high, mean, distinct] = evaluate(
      `const a = Array.from({ length: 20000 }, () => Math.random()); return [Math.min(...a), Math.max(...a), a.reduce((x, y) => x + y) / a.length, new Set(a).size];`,
    ) as number[];
    expect(low).toBeGreaterThanOrEqual(0);
    expect(high).toBeLessThan(1);
    expect(Math.abs((mean ?? 0) - 0.5)).toBeLessThan(0.02);
    expect(distinct).toBe(20_000);
  });

  test("names of the prelude are not visible to the guest", () => {
    expect(
      evaluate(
        `return ["uncurry", "callTool", "pendingCalls", "nextRandom32", "put", "expose", "callFunction", "mapGet", "deliverResult"].filter((name) => name in globalThis);`,
      ),
    ).toEqual([]);
  });
});
