/**
 * What prism says against a request although the request is right, each with its reason. What no rule explains fails the run.
 * Ordered: the first rule that fits has it.
 */
import type { Failure } from "../../packages/testkit/src/openapi-corpus/run-document.ts";

export interface PrismRule {
  reason: string;
  matches(text: string, document: string): boolean;
}

const said =
  (pattern: RegExp, document?: RegExp) =>
  (text: string, name: string): boolean =>
    pattern.test(text) && (document === undefined || document.test(name));

export const RULES: PrismRule[] = [
  {
    reason:
      "Swagger 2.0 without `consumes`: prism then knows no media type at all, and JSON (or a form) is what remains to be sent",
    matches: said(/No supported content types, but request included a non-empty body/),
  },
  {
    reason: "prism fails at the answer it makes up (its own schema, type or size), after it took the request",
    matches: said(/^(NO_COMPLEX_OBJECT_TEXT|SCHEMA_TOO_COMPLEX|UNKNOWN): |^INVALID_RESPONSE/),
  },
  {
    reason: "the document's first answer is a redirect: prism leads back to itself, or to a host that is not there",
    matches: said(/^not sent: .*(redirects on and on|cannot be resolved)|^NO_PATH_MATCHED_ERROR: The route \/string /),
  },
  {
    reason:
      "Accept and Authorization are declared as header parameters; the specification says that such a declaration is ignored",
    matches: said(/header(\.accept|: Request header must have required property 'authorization')/i),
  },
  {
    reason:
      "prism does not know the security scheme of the document, or takes one Authorization header for one scheme only",
    matches: said(/do not support this type of security scheme|Invalid security scheme used/),
  },
  {
    reason:
      "in multipart and forms prism parses neither JSON parts nor a list that has one item, nor the lists of a style",
    matches: said(
      /body\.[\w-]+(\.\w+)*: Request body property [\w.-]+ must (be (object|array|integer|number|boolean)|match)/,
    ),
  },
  {
    reason:
      "prism wants the separator of a style (`a,b`) or a JSON part encoded, and takes it for a reserved character",
    matches: said(/Reserved characters used in request body/),
  },
  {
    reason: "prism does not decode a list of numbers in this style, and compares its items as texts",
    matches: said(/query\.[\w-]+\.\d+: Request query parameter .* must be (integer|number|boolean)/),
  },
  {
    reason:
      "objects within a list of a parameter: no style says how they are written; they go as JSON, which prism does not parse there",
    matches: said(/(query|header)\.[\w-]+\.\d+: Request (query|header) parameter .* must be object/),
  },
  {
    reason: "prism knows no tabs (`collectionFormat: tsv`)",
    matches: said(/query: Request query must have required property 'ids'/, /^own\/swagger-forms/),
  },
  {
    reason:
      "prism looks for parameters with brackets in their names (`filter[tag]`) encoded in lower case, and finds none",
    matches: said(/must have required property '[^']*%5b/),
  },
  {
    reason: "a parameter that may be a text or a number fits both for prism, which wants exactly one",
    matches: said(/Request (query|path) parameter \w+ must match exactly one schema in oneOf/),
  },
  {
    reason: "a form that may be left out, and is: prism takes it for an empty form and asks for its required fields",
    matches: said(/^request\.body: Request body must have required property 'grant_type'/, /box\.com$/),
  },
  {
    reason: "an object in brackets within a form (`deep[role]`): prism does not decode the brackets there",
    matches: said(/body\.deep: Request body property deep must have required property/, /^own\/every-style/),
  },
  {
    reason: "a placeholder with letters beyond ASCII (`{straße}`): prism does not find its own parameter",
    matches: said(/path: Request path must have required property '[^']*[^\x00-\x7f]/),
  },
  {
    reason: "the document's only answer is an interim one (100 to 103): prism sends it as if it were the last",
    matches: said(/^not sent: .*(cut the connection before its answer|UnrequestedUpgrade)/, /http-status-codes$/),
  },
  {
    reason: "an object in XML or in plain text: prism does not parse it",
    matches: said(/body: Request body must be object/),
  },
];

export function triage(document: string, { text }: Failure): PrismRule | null {
  return RULES.find((rule) => rule.matches(text, document)) ?? null;
}
