/**
 * Checks who imports whom, which names a room may not use, and how files are called, against the tables in import-rules.ts.
 * It reads text and reports; it resolves nothing on disk, so a test can feed it files that do not exist.
 */
import { builtinModules } from "node:module";
import { posix } from "node:path";
import { BANNED_NAMES, NAME_RULES, OUTSIDERS, ROOMS, ROOMS_FOR_TESTS, type Room } from "./import-rules.ts";
import { lineAt, scanSource } from "./scan-source.ts";
import { isTest, listSourceFiles, type SourceFile } from "./source-files.ts";

/** One line per violation: where, what, why. Empty if all is well. */
export function findViolations(files: SourceFile[]): string[] {
  return files.flatMap((file) => [...checkName(file), ...checkImports(file), ...checkBannedNames(file)]);
}

function checkName({ path }: SourceFile): string[] {
  const rule = NAME_RULES.find((candidate) => candidate.folder.test(path));
  const name = path.replace(rule?.folder ?? "", "").replace(/\.[a-z]+$/, "");
  return rule && !rule.name.test(name) ? [`${path}: file names here are ${rule.why}`] : [];
}

function checkImports({ path, text }: SourceFile): string[] {
  const own = roomOf(path);
  if (!own) return [`${path}: belongs to no room in scripts/import-rules.ts`];
  return scanSource(text).imports.flatMap(({ specifier, line }) => {
    const refusal = refuse(path, own, specifier);
    return refusal ? [`${path}:${line}: imports "${specifier}": ${refusal}`] : [];
  });
}

/** Why this room may not import this module, or undefined if it may. */
function refuse(path: string, own: string, specifier: string): string | undefined {
  const rules = ROOMS[own] as Room;
  const inTest = isTest(path);

  if (specifier.startsWith(".")) {
    const target = roomOf(posix.join(posix.dirname(path), specifier));
    if (target === own || OUTSIDERS.includes(own)) return undefined;
    return "a path may not leave its room; import another room by its package name";
  }
  if (specifier.startsWith("@executor/")) {
    const target = specifier.split("/")[1] ?? "";
    const isAllowed = rules.rooms === "any" || target === own || rules.rooms.includes(target);
    if (isAllowed || (inTest && ROOMS_FOR_TESTS.includes(target))) return undefined;
    return `${own} may import ${listOf(rules.rooms)}`;
  }
  if (inTest) return undefined;
  if (isBuiltin(specifier))
    return rules.builtins === "builtins" ? undefined : `${own} runs without node and bun modules`;
  if (rules.npm === "any" || rules.npm.includes(packageOf(specifier))) return undefined;
  return `${own} may import ${listOf(rules.npm)} from npm`;
}

function checkBannedNames({ path, text }: SourceFile): string[] {
  if (isTest(path)) return [];
  const { code } = scanSource(text);
  return BANNED_NAMES.filter((rule) => rule.isBannedIn(path)).flatMap(({ pattern, why }) =>
    [...code.matchAll(pattern)].map((match) => `${path}:${lineAt(code, match.index)}: uses ${match[0]}: ${why}`),
  );
}

function roomOf(path: string): string | undefined {
  return Object.keys(ROOMS).find((name) => path.startsWith(`${ROOMS[name]?.folder}/`));
}

function isBuiltin(specifier: string): boolean {
  return /^(node|bun):/.test(specifier) || specifier === "bun" || builtinModules.includes(specifier);
}

/** "convex/server" -> "convex", "@hono/zod-openapi/x" -> "@hono/zod-openapi" */
function packageOf(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

function listOf(names: string[] | "any"): string {
  return names === "any" ? "anything" : names.length === 0 ? "nothing" : names.join(", ");
}

if (import.meta.main) {
  const violations = findViolations(await listSourceFiles());
  for (const violation of violations) console.log(violation);
  process.exit(violations.length > 0 ? 1 : 0);
}
