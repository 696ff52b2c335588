/** How a table is described. */

/** A trailing "?" means the column may be null. "real" holds milliseconds with a fraction. */
type Column = "text" | "int" | "real" | "text?" | "int?" | "real?";
export interface Table {
  key: string;
  columns: Record<string, Column>;
  indexes: Record<string, readonly string[]>;
}
export const table = <const T extends Table>(definition: T): T => definition;
