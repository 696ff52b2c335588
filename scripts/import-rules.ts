/**
 * The import rule as tables: what each room may import, which names it may not use, how its files are called.
 * check-imports.ts applies them. The picture behind them is in docs and in each room's README.
 */
type Builtins = "builtins" | "no builtins";

export interface Room {
  folder: string;
  /** Rooms it may import by package name, or anything. */
  rooms: string[] | "any";
  /** npm packages it may import, or any that its package.json declares (knip checks that). */
  npm: string[] | "any";
  /** node: and bun: modules. */
  builtins: Builtins;
}

const room = (folder: string, rooms: string[] | "any", npm: string[] | "any", builtins: Builtins): Room => ({
  folder,
  rooms,
  npm,
  builtins,
});

export const ROOMS: Record<string, Room> = {
  contracts: room("packages/contracts", [], ["zod"], "no builtins"),
  core: room("packages/core", ["contracts"], [], "no builtins"),
  runtimes: room("packages/runtimes", ["contracts", "core"], "any", "builtins"),
  sources: room("packages/sources", ["contracts", "core"], "any", "builtins"),
  store: room("packages/store", ["contracts", "core"], "any", "builtins"),
  typecheck: room("packages/typecheck", [], "any", "builtins"),
  vault: room("packages/vault", ["contracts", "core"], "any", "builtins"),
  "mcp-bridge": room("packages/mcp-bridge", [], [], "no builtins"),
  client: room("packages/client", ["contracts"], [], "no builtins"),
  testkit: room("packages/testkit", "any", "any", "builtins"),
  server: room(
    "apps/server",
    ["contracts", "core", "runtimes", "sources", "store", "typecheck", "vault", "worker"],
    "any",
    "builtins",
  ),
  worker: room("apps/worker", ["contracts", "core", "runtimes", "sources", "store", "vault"], "any", "builtins"),
  isolate: room("apps/isolate", ["contracts", "runtimes"], "any", "builtins"),
  web: room("apps/web", ["client", "contracts"], "any", "no builtins"),
  cli: room("apps/cli", ["client", "contracts", "mcp-bridge"], "any", "builtins"),
  convex: room("convex", ["contracts", "core"], ["convex"], "no builtins"),
  e2e: room("e2e", "any", "any", "builtins"),
  bench: room("bench", "any", "any", "builtins"),
  scripts: room("scripts", "any", "any", "builtins"),
};

/** A test may import these on top, and any npm package or builtin: it is never shipped. */
export const ROOMS_FOR_TESTS = ["testkit"];

/** Rooms that reach into others by path: they look at the repository from outside. */
export const OUTSIDERS = ["e2e", "bench", "scripts"];

interface BannedName {
  /** Matched against code without comments and strings. */
  pattern: RegExp;
  why: string;
  isBannedIn: (path: string) => boolean;
}

const inCore = (path: string) => path.startsWith("packages/core/");
/** Not a property (`deps.fetch`) and not a key (`{ process: 1 }`). */
const global = (names: string) =>
  new RegExp(String.raw`(?<![.\w$])(?:globalThis\s*\.\s*)?\b(?:${names})\b(?!\s*\??:)`, "g");

/** Tests are exempt from all of these. */
export const BANNED_NAMES: BannedName[] = [
  {
    pattern: global("fetch|process|crypto|performance|Bun"),
    why: "core takes effects as ports, never from a global",
    isBannedIn: inCore,
  },
  {
    pattern: /\bDate\s*\.\s*now\b|\bnew\s+Date\s*\(\s*\)|\bMath\s*\.\s*random\b/g,
    why: "core gets time and randomness from its caller, so that a replay gives the same answer",
    isBannedIn: inCore,
  },
  {
    pattern: /\b(?:process|Bun|import\s*\.\s*meta)\s*\.\s*env\b/g,
    why: "the environment is read in env.ts and main.ts only",
    isBannedIn: (path) =>
      !/(^|\/)(env|main|dev)\.tsx?$/.test(path) && !/^(scripts|e2e|bench|packages\/testkit)\//.test(path),
  },
];

interface NameRule {
  folder: RegExp;
  /** The whole path below the folder, without extension. */
  name: RegExp;
  why: string;
}

/** The first rule whose folder fits decides. */
export const NAME_RULES: NameRule[] = [
  {
    folder: /^convex\//,
    name: /^[a-z0-9/]+(\.[a-z]+)*$/,
    why: "one lower-case word: Convex refuses a whole push for one hyphen",
  },
  { folder: /^/, name: /^[a-z0-9]+([-/.][a-z0-9]+)*$/, why: "kebab-case" },
];
