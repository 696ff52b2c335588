/** From bytes or text to a document: JSON first, else YAML, whose aliases may not blow it up (S15). */
import { AppError } from "@executor/contracts/error";
import { parseYaml } from "./parse-yaml.ts";

export interface ParsedText {
  root: Record<string, unknown>;
  text: string;
  contentType: string;
}

export function parseText(source: Uint8Array | string, check: (value: unknown) => Record<string, unknown>): ParsedText {
  const text = typeof source === "string" ? source : new TextDecoder().decode(source);
  const isJson = /^\s*[{[]/.test(text.slice(0, 1_000));
  try {
    if (isJson) return { root: check(JSON.parse(text)), text, contentType: "application/json" };
  } catch (error) {
    // YAML may start like JSON too.
    if (error instanceof AppError) throw error;
  }
  try {
    return { root: check(parseYaml(text)), text, contentType: "application/yaml" };
  } catch (error) {
    if (error instanceof AppError) throw error;
    const what = isJson ? "JSON" : "YAML";
    throw new AppError("source.unreadable", `The document is neither JSON nor YAML (as ${what}: ${firstLine(error)}).`);
  }
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? (error.message.split("\n", 1)[0] as string) : "unreadable").slice(0, 200);
