/** The line of the code a call was made on, when the code names the tool on one line only. */
export function findLine(code: string, toolPath: string): number | undefined {
  const call = new RegExp(
    String.raw`\btools\s*\.\s*${toolPath
      .split(".")
      .map(escape)
      .join(String.raw`\s*\.\s*`)}\s*\(`,
    "g",
  );
  const lines = new Set<number>();
  for (const found of code.matchAll(call)) {
    lines.add(code.slice(0, found.index).split("\n").length);
    if (lines.size > 1) return undefined;
  }
  const [line] = lines;
  return line;
}

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
