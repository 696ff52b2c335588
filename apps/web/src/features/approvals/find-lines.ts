/** The lines of the code that name the tool in a call: candidates, for approvals whose stack did not tell the line. */
export function findLines(code: string, toolPath: string): number[] {
  const call = new RegExp(
    String.raw`\btools\s*\.\s*${toolPath
      .split(".")
      .map(escape)
      .join(String.raw`\s*\.\s*`)}\s*\(`,
    "g",
  );
  const lines = new Set<number>();
  for (const found of code.matchAll(call)) lines.add(code.slice(0, found.index).split("\n").length);
  return [...lines];
}

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
