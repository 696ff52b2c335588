/** What secrets must look like, and what becomes of them in a request. */
import { describe, expect, test } from "bun:test";
import { AppError } from "@executor/contracts/error";
import type { AuthPart, PublicAuth } from "../ports/source.ts";
import { answerSchemaFor, checkSecret, parseSecret, type Secret } from "./secret-shape.ts";
import { toAuthParts } from "./to-auth-parts.ts";

const auth = (type: PublicAuth["type"], patch: Partial<PublicAuth> = {}): PublicAuth => ({
  mode: "workspace",
  type,
  ...patch,
});
const bearer = auth("bearer");
const apiKey = auth("apiKey", { header: "X-Key" });

function refused(action: () => unknown): string {
  let error: unknown = null;
  try {
    action();
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(AppError);
  expect((error as AppError).code).toBe("credential.invalid");
  expect(String(error)).not.toContain("canary");
  return (error as AppError).detail;
}

describe("a secret fits", () => {
  const fitting: [PublicAuth | undefined, Secret][] = [
    [bearer, { token: "t" }],
    [apiKey, { value: "v" }],
    [auth("basic"), { username: "", password: "p" }],
    [auth("basic", { username: "known" }), { password: "p" }],
    [auth("oauth2"), { token: "t" }],
    [
      auth("oauth2"),
      { accessToken: "a", refreshToken: "r", expiresAt: 1, tokenType: "Bearer", issuer: "i", clientId: "c" },
    ],
    [bearer, { headers: { "X-A": "1" }, query: { "k[]": "2" }, cookies: { c: "3" }, env: { TOKEN: "line\nbreak" } }],
    [bearer, { token: "t", headers: { "X-Team": "7" } }],
    [undefined, { token: "t" }],
    [undefined, { env: { A: "1" } }],
  ];
  test.each(fitting)("%j %j", (for_, secret) => checkSecret(for_, secret));
});

describe("a secret does not fit", () => {
  const own = (json: string): Secret => JSON.parse(json) as Secret;
  const unfit: [PublicAuth | undefined, Secret, string][] = [
    [bearer, {}, "{token}"],
    [bearer, { token: "" }, "{token}"],
    [bearer, { token: 5 }, "{token}"],
    [bearer, { value: "canary" }, "It came with value"],
    [bearer, { token: "canary", tokn: "canary" }, "{token}"],
    [bearer, { token: "canary\r\nX-Evil: 1" }, "line break"],
    [apiKey, { value: "canary\n" }, "line break"],
    [auth("basic"), { password: "canary" }, "{username, password}"],
    [auth("oauth2"), { refreshToken: "canary" }, "{accessToken}"],
    [bearer, { headers: { "X-A\n": "canary" } }, "headers"],
    [bearer, { headers: { Host: "canary" } }, "header Host"],
    [bearer, { headers: { "X-A": 1 } }, "must be a text"],
    [bearer, { headers: "canary" }, "object of names"],
    [bearer, { cookies: { a: "canary; b=1" } }, "semicolons"],
    [bearer, { env: { "A=B": "canary" } }, "env"],
    [bearer, own(`{"__proto__": {"token": "canary"}}`), "It came with __proto__"],
    [bearer, { token: "canary".repeat(20_000) }, "100000 characters"],
    [undefined, { password: "canary" }, "A secret is"],
  ];
  test.each(unfit)("%j %j", (for_, secret, words) => {
    expect(refused(() => checkSecret(for_, secret))).toContain(words);
  });

  test("when it is not JSON, or no object; and nothing of it is repeated", () => {
    for (const json of ["canary", `{"token": canary}`, `["canary"]`, "null", `"canary"`])
      refused(() => parseSecret(json));
  });
});

describe("the form for a person", () => {
  test("asks for the fields of its type, hidden where they are secret", () => {
    const { properties, required } = answerSchemaFor(auth("basic")) as {
      properties: Record<string, object>;
      required: string[];
    };
    expect(required).toEqual(["username", "password"]);
    expect(properties.password).toMatchObject({ format: "password", writeOnly: true });
    expect(properties.username).not.toHaveProperty("writeOnly");
    expect(answerSchemaFor(auth("basic", { username: "known" }))).toMatchObject({ required: ["password"] });
    expect(answerSchemaFor(apiKey)).toMatchObject({ properties: { value: { title: "Key for X-Key" } } });
    expect(answerSchemaFor(auth("oauth2"))).toBeNull();
  });
});

describe("a secret goes", () => {
  const header = (name: string, value: string): AuthPart => ({ in: "header", name, value });
  const table: [PublicAuth, Secret, AuthPart[]][] = [
    [bearer, { token: "t0" }, [header("Authorization", "Bearer t0")]],
    [
      auth("oauth2"),
      { accessToken: "a0", refreshToken: "r0", tokenType: "bearer" },
      [header("Authorization", "Bearer a0")],
    ],
    [apiKey, { value: "v0" }, [header("X-Key", "v0")]],
    [auth("apiKey", { query: "key" }), { value: "v0" }, [{ in: "query", name: "key", value: "v0" }]],
    [auth("apiKey", { cookie: "sid" }), { value: "v0" }, [{ in: "cookie", name: "sid", value: "v0" }]],
    [
      auth("basic"),
      { username: "Aladdin", password: "open sesame" },
      [header("Authorization", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")],
    ],
    [auth("basic", { username: "test" }), { password: "123£" }, [header("Authorization", "Basic dGVzdDoxMjPCow==")]],
    [
      bearer,
      { headers: { A: "1" }, query: { b: "2" }, cookies: { c: "3" }, env: { D: "4" } },
      [
        header("A", "1"),
        { in: "query", name: "b", value: "2" },
        { in: "cookie", name: "c", value: "3" },
        { in: "env", name: "D", value: "4" },
      ],
    ],
    [
      bearer,
      { token: "t0", env: { D: "4" } },
      [header("Authorization", "Bearer t0"), { in: "env", name: "D", value: "4" }],
    ],
  ];
  test.each(table)("%j %j", (for_, secret, parts) => {
    expect(toAuthParts(for_, JSON.stringify(secret)).parts).toEqual(parts);
  });

  test("nowhere when it does not fit, and never in half", () => {
    refused(() => toAuthParts(bearer, `{"value":"canary"}`));
    refused(() => toAuthParts(auth("basic"), `{"username":"canary"}`));
    refused(() => toAuthParts(auth("apiKey"), `{"value":"canary"}`));
    refused(() => toAuthParts(bearer, `{"__proto__":{"token":"canary"}}`));
  });

  test("with every spelling of it to look for in answers, the longest first", () => {
    const value = `p&"ß /+x`;
    const { secrets } = toAuthParts(apiKey, JSON.stringify({ value }));
    for (const spelling of [
      value,
      encodeURIComponent(value),
      `p&\\"ß /+x`,
      Buffer.from(value).toString("base64"),
      Buffer.from(value).toString("base64url"),
    ])
      expect(secrets).toContain(spelling);
    expect(secrets.map((text) => text.length)).toEqual(secrets.map((text) => text.length).toSorted((a, b) => b - a));
  });

  test("and a pair, a refresh token and what follows `Bearer` in a whole header are secret too", () => {
    const pair = toAuthParts(auth("basic"), `{"username":"user","password":"pass"}`).secrets;
    expect(pair).toContain("pass");
    expect(pair).toContain(btoa("user:pass"));
    expect(pair).not.toContain("user");
    expect(toAuthParts(auth("oauth2"), `{"accessToken":"at","refreshToken":"rt"}`).secrets).toContain("rt");
    expect(toAuthParts(bearer, `{"headers":{"Authorization":"Token abc123"}}`).secrets).toContain("abc123");
  });
});
