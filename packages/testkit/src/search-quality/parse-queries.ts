/** What somebody asks for, and the operations that are right. */
export interface IntentQuery {
  query: string;
  /** namespace:operationId, any of which is right. */
  right: string[];
}

/** One a line: `query => namespace:operationId …`. */
export const parseQueries = (text: string): IntentQuery[] =>
  text
    .trim()
    .split("\n")
    .map((line) => {
      const [query = "", right = ""] = line.split("=>").map((part) => part.trim());
      return { query, right: right.split(/\s+/) };
    });
