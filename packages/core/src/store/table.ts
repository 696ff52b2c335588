/** What a table is described by. */

/** A trailing "?" means the column may be null. "real" holds milliseconds with a fraction. */
export type Column = "text" | "int" | "real" | "text?" | "int?" | "real?";
export interface Table {
  key: string;
  columns: Record<string, Column>;
  indexes: Record<string, readonly string[]>;
}
export const table = <const T extends Table>(definition: T): T => definition;
