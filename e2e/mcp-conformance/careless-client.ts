/**
 * The check of the check: an MCP client that does it wrong in one named way, against which the suite must find fault. It speaks
 * plain HTTP, so that no library can save it.
 */
const url = Bun.argv.at(-1) ?? "";
const fault = Bun.env["CARELESS"] ?? "does-nothing";
const REDIRECT = "http://127.0.0.1:1/oauth/callback";

const getJson = async (from: string): Promise<Record<string, string>> => (await fetch(from)).json() as never;

if (fault !== "does-nothing") await signIn();

/** A sign-in without PKCE (`no-pkce`), or one that believes whoever answers (`believes-any-issuer`). */
async function signIn(): Promise<void> {
  const { origin, pathname } = new URL(url);
  const resource = (await getJson(`${origin}/.well-known/oauth-protected-resource${pathname}`)) as unknown as {
    resource: string;
    authorization_servers: string[];
  };
  const server = await getJson(`${resource.authorization_servers[0]}/.well-known/oauth-authorization-server`);
  const registration = {
    client_name: "careless",
    redirect_uris: [REDIRECT],
    token_endpoint_auth_method: "none",
    application_type: "native",
  };
  const registered = await fetch(server["registration_endpoint"] ?? "", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(registration),
  });
  const { client_id: clientId = "" } = (await registered.json()) as { client_id?: string };
  const verifier = "a".repeat(64);
  const challenge = new Bun.CryptoHasher("sha256").update(verifier).digest("base64url");
  const pkce: Record<string, string> =
    fault === "no-pkce" ? {} : { code_challenge: challenge, code_challenge_method: "S256" };
  const common = { client_id: clientId, redirect_uri: REDIRECT, resource: resource.resource };
  const asked = new URLSearchParams({ response_type: "code", state: "s", ...common, ...pkce });
  const sent = await fetch(`${server["authorization_endpoint"]}?${asked}`, { redirect: "manual" });
  const code = new URL(sent.headers.get("location") ?? REDIRECT).searchParams.get("code") ?? "";
  const proof: Record<string, string> = fault === "no-pkce" ? {} : { code_verifier: verifier };
  const grant = new URLSearchParams({ grant_type: "authorization_code", code, ...common, ...proof });
  await fetch(server["token_endpoint"] ?? "", { method: "POST", body: grant });
}
