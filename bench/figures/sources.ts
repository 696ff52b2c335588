/**
 * From the bytes of a large document to tools that can be searched, and opening them again from the stored index; both against
 * JSON.parse of the same bytes. Needs corpus/ (`bun install` there). Each sample runs in a process of its own, for its memory.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Figure, makeRow } from "../src/figure.ts";
import { p50 } from "../src/samples.ts";

const document = join(import.meta.dir, "../../corpus/node_modules/@octokit/openapi/generated/api.github.com.json");

interface Sample {
  /** In a fresh process, as the reading is. */
  coldParseMs: number;
  /** After the reading, in the same process. */
  parseMs: number;
  readMs: number;
  reopenMs: number;
  extraBytes: number;
  tools: number;
}

export const sourcesFigure: Figure = {
  name: "sources",
  means: "GitHub's document from bytes to searchable tools, and re-opened from the store",
  async measure({ quick, say }) {
    if (!existsSync(document)) {
      say("sources: NOT MEASURED, the document is missing: run `bun install` in corpus/");
      return [];
    }
    const samples: Sample[] = [];
    for (let n = 0; n < (quick ? 3 : 9); n++) samples.push(await sample());
    const of = (name: keyof Sample): number => p50(samples.map((each) => each[name]));
    const floor = of("coldParseMs");
    const warm = of("readMs") / of("parseMs");
    const note = `${samples[0]?.tools ?? 0} tools, cold; floor = the bytes decoded and JSON.parse, cold too; against a warm one (${of("parseMs").toFixed(0)} ms) ${warm.toFixed(1)}x`;
    return [
      makeRow({
        figure: "sources/read",
        unit: "ms",
        floor,
        product: of("readMs"),
        aim: "<= 4x",
        isMet: ({ ratio }) => ratio <= 4,
        note,
      }),
      makeRow({
        figure: "sources/reopen",
        unit: "ms",
        floor: of("parseMs"),
        product: of("reopenMs"),
        aim: "<= 1x",
        isMet: ({ ratio }) => ratio <= 1,
        note: "head from the store, search index made; floor = JSON.parse in the same process",
      }),
      makeRow({
        figure: "sources/memory",
        unit: "MB",
        floor: null,
        product: of("extraBytes") / 1e6,
        aim: "<= 250 MB",
        isMet: ({ product }) => product <= 250,
        note: "peak RSS beyond that of the process before it read",
      }),
    ];
  },
};

async function sample(): Promise<Sample> {
  return { ...(await run<Sample>("read")), ...(await run<Pick<Sample, "coldParseMs">>("parse")) };
}

async function run<T>(what: "read" | "parse"): Promise<T> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "../src/read-document.ts"), document, what], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error("reading the document failed");
  return JSON.parse(text) as T;
}
