/**
 * One operation of a document, in one shape for Swagger 2.0 and OpenAPI 3.0 to 3.2: what `read` makes of the document and what
 * `invoke` makes requests from. Schemas may still hold `$ref`s into the document's components; `resolve` follows them.
 */
import type { JsonSchema } from "@executor/contracts/tool";

export interface Operation {
  /** Upper case. */
  method: string;
  /** As the document writes it, with {placeholders}. */
  path: string;
  /** Of the operation, else of its path, else of the document; URLs may be relative to the document and hold {variables}. */
  servers: readonly Server[];
  params: readonly Param[];
  body: Body | null;
  responses: readonly ResponseShape[];
  /** Alternatives; each is a list of schemes that are all needed. Empty list: none is needed. */
  security: readonly (readonly SecurityNeed[])[];
  /** It says itself that it needs none, where others do: it gets no credential, and nobody is asked for one. */
  open?: true;
  deprecated: boolean;
}

export interface Server {
  url: string;
  variables: Readonly<Record<string, { default?: string; enum?: readonly string[] }>>;
}

export type ParamPlace = "path" | "query" | "header" | "cookie" | "querystring";
export type ParamStyle =
  | "simple"
  | "label"
  | "matrix"
  | "form"
  | "spaceDelimited"
  | "pipeDelimited"
  | "tabDelimited"
  | "deepObject";

export interface Param {
  /** On the wire. */
  name: string;
  in: ParamPlace;
  /** Name in the flat input object; differs from `name` only where two would collide, or for `__proto__`. */
  arg: string;
  required: boolean;
  style: ParamStyle;
  explode: boolean;
  allowReserved: boolean;
  /** Set when the value is serialised as this media type (`content`) and not by style. */
  contentType: string | null;
  schema: JsonSchema;
  description: string;
}

export interface Body {
  required: boolean;
  /** Best first: JSON before form before multipart before the rest. */
  contents: readonly BodyContent[];
  /**
   * Properties that stand beside the parameters in the flat input. Null: the body is given whole, as `body`. `body` is always
   * accepted, but where a property is itself named `body` (GitHub's issues), `body` means that property.
   */
  fields: readonly string[] | null;
  description: string;
}

export interface BodyContent {
  contentType: string;
  schema: JsonSchema;
  /** Per property: how it is written in form and multipart bodies. */
  encoding: Readonly<
    Record<string, { contentType?: string; style?: ParamStyle; explode?: boolean; allowReserved?: boolean }>
  >;
}

export interface ResponseShape {
  /** "200", "2XX", "default". */
  status: string;
  contentType: string | null;
  schema: JsonSchema | null;
  description: string;
}

export interface SecurityNeed {
  /** Name of the scheme in the document. */
  scheme: string;
  type: "bearer" | "basic" | "apiKey" | "oauth2" | "openIdConnect" | "other";
  /** For apiKey. */
  in?: "header" | "query" | "cookie";
  name?: string;
  scopes: readonly string[];
}

/** Follows a `$ref` into the document; null when it leads nowhere. */
export type Resolve = (ref: string) => unknown;
