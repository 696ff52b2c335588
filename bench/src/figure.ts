/**
 * What a figure is: a name, and rows that each hold one measured value against a floor of the same run.
 * A row says itself whether it met its aim, so a miss is a fact in the table and not somebody's reading of it.
 */
export interface FigureOptions {
  /** Fewer samples: to see that it works, not to be quoted. */
  quick: boolean;
  /** Progress, for people who wait. */
  say(text: string): void;
}

export interface Row {
  /** The figure, and which of its values: `calls/unsafe`. */
  figure: string;
  unit: string;
  /** Null: the aim is absolute and nothing bare compares. */
  floor: number | null;
  product: number;
  /** Product to floor; for rates the other way round would hide what the reader asks, so it is product / floor there too. */
  ratio: number | null;
  aim: string;
  /** Null: no aim was set, so there is nothing to meet. */
  ok: boolean | null;
  /** What floor and product consist of. */
  note: string;
}

export interface Figure {
  name: string;
  means: string;
  measure(options: FigureOptions): Promise<Row[]>;
}

interface RowInput extends Omit<Row, "ratio" | "ok"> {
  isMet(values: { product: number; ratio: number }): boolean | null;
}

export function makeRow({ isMet, ...row }: RowInput): Row {
  const ratio = row.floor === null ? null : row.product / row.floor;
  return { ...row, ratio, ok: isMet({ product: row.product, ratio: ratio ?? Number.NaN }) };
}
