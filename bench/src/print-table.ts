/** The rows as a table for people, and what each row consists of below it. */
import type { Row } from "./figure.ts";

export function formatTable(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.figure,
    row.floor === null ? "-" : formatNumber(row.floor),
    formatNumber(row.product),
    row.unit,
    row.ratio === null ? "-" : `${row.ratio.toFixed(2)}x`,
    row.aim,
    row.ok === null ? "-" : row.ok ? "ok" : "MISSED",
  ]);
  const lines = [["figure", "floor", "product", "unit", "ratio", "aim", ""], ...cells];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  const table = lines.map((line) =>
    line
      .map((cell, column) =>
        column > 0 && column < 3 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
  return [...table, "", ...rows.map((row) => `${row.figure}: ${row.note}`)].join("\n");
}

const formatNumber = (value: number): string => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2));
