/** Who we are to an authorization server: what was set up by hand, then our document, then a registration. */
import { expect, test } from "bun:test";
import type { Authorization } from "./discover-authorization.ts";
import { type ClientIdentity, clientDocumentUrl, clientMetadataDocument, knownClient } from "./register-client.ts";

const server: Authorization = {
  issuer: "https://idp.example",
  authorizationEndpoint: "https://idp.example/authorize",
  tokenEndpoint: "https://idp.example/token",
  registrationEndpoint: null,
  resource: null,
  scopes: [],
  tokenAuthMethods: ["client_secret_post", "none"],
  sendsIssuer: false,
  takesClientDocuments: true,
  offersOfflineAccess: false,
  isDiscovered: true,
};
const documentUrl = "https://executor.example/oauth/client-metadata.json";
const redirectUri = "http://127.0.0.1:8788/oauth/callback";
const identity: ClientIdentity = { manual: null, documentUrl, redirectUri };

test("a client that was set up by hand comes first, with the method that the server takes", () => {
  const manual = { clientId: "by-hand", clientSecret: "s" };
  const expected = { ...manual, authMethod: "client_secret_post", redirectUri };
  expect(knownClient(server, { ...identity, manual })).toEqual(expected as never);
  expect(knownClient(server, { ...identity, manual: { clientId: "public" } })).toMatchObject({ authMethod: "none" });
});

test("a document is for servers that take one, and installations that have one", () => {
  expect(knownClient(server, identity)).toEqual({ clientId: documentUrl, authMethod: "none", redirectUri });
  expect(knownClient({ ...server, takesClientDocuments: false }, identity)).toBeNull();
  expect(knownClient(server, { ...identity, documentUrl: null })).toBeNull();
});

test("the document names the address at which it stands", () => {
  const base = "https://executor.example";
  expect(clientMetadataDocument(base)).toMatchObject({
    client_id: clientDocumentUrl(base),
    redirect_uris: [`${base}/oauth/callback`],
    token_endpoint_auth_method: "none",
  });
});
