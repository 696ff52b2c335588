/**
 * Reads a GraphQL document that a stranger wrote, within limits: length, tokens, nesting. What is too much, too deep or no
 * GraphQL is refused as `call.input_invalid`, with the parser's own words. Nothing here looks at the schema but `validateDocument`.
 */
import { AppError } from "@executor/contracts/error";
import {
  GraphQLError,
  Lexer,
  OverlappingFieldsCanBeMergedRule,
  parse,
  Source,
  specifiedRules,
  TokenKind,
  validate,
  type DocumentNode,
  type GraphQLSchema,
} from "graphql";

/** `what` names the input in messages: `query`, `select`. */
export function parseDocument(text: string, what: string): DocumentNode {
  if (text.length > maxLength) throw invalid(what, `is ${text.length} characters long, and ${maxLength} is the limit.`);
  try {
    measure(text, what);
    return parse(text, { noLocation: true, maxTokens });
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw invalid(
      what,
      `is not valid GraphQL. ${error instanceof GraphQLError ? located(error) : "It cannot be parsed."}`,
    );
  }
}

export function validateDocument(schema: GraphQLSchema, document: DocumentNode, what: string): void {
  const errors = validate(schema, document, rules, { maxErrors: 5 });
  if (errors.length === 0) return;
  throw invalid(
    what,
    `does not fit the schema. ${errors
      .slice(0, 5)
      .map((error) => error.message)
      .join(" ")}`,
  );
}

const maxLength = 200_000;
const maxTokens = 10_000;
const maxDepth = 60;

// Whether two fields can be merged takes quadratic time on hostile documents and protects nobody: the server says so itself.
const rules = specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule);

/** The parser recurses: depth is counted on the tokens first, so that a deep document cannot exhaust the stack. */
function measure(text: string, what: string): void {
  const lexer = new Lexer(new Source(text));
  let depth = 0;
  let tokens = 0;
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    if (opening.has(token.kind)) depth++;
    else if (closing.has(token.kind)) depth--;
    if (depth > maxDepth) throw invalid(what, `nests deeper than ${maxDepth} levels.`);
    if (++tokens > maxTokens) throw invalid(what, `has more than ${maxTokens} tokens.`);
  }
}

const opening = new Set<string>([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const closing = new Set<string>([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

function located(error: GraphQLError): string {
  const [at] = error.locations ?? [];
  return at ? `${error.message} (line ${at.line}, column ${at.column})` : error.message;
}

const invalid = (what: string, why: string): AppError => new AppError("call.input_invalid", `${what} ${why}`);
