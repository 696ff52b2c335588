/** Which questions of a server may reach a person, and in which form. */
import { expect, test } from "bun:test";
import { refusalOf, toAnswer } from "./elicitation.ts";

const form = (message: string, properties: object) => ({
  message,
  mode: "form",
  requestedSchema: { type: "object", properties },
});
const text = { type: "string" };

const refused: [what: string, request: Parameters<typeof refusalOf>[0]][] = [
  ["a password field", form("Log in", { password: text })],
  ["an apiKey field", form("Connect", { apiKey: text })],
  ["a field titled Access token", form("Connect", { value: { ...text, title: "Access token" } })],
  ["a message that asks for the secret", form("Please enter your API key", { value: text })],
  ["a field described as credentials", form("Go on", { v: { ...text, description: "your credentials" } })],
  ["a file: page", { mode: "url", message: "Go", url: "file:///etc/passwd" }],
  ["a page with a user in its address", { mode: "url", message: "Go", url: "https://bank.example@evil.example/" }],
];
test.each(refused)("%s is refused", (_, request) => {
  expect(refusalOf(request, "Pets")).toStartWith("Pets asked");
});

const fine: [what: string, request: Parameters<typeof refusalOf>[0]][] = [
  ["a name", form("Who are you?", { name: text })],
  ["a number of tokens", form("How many tokens?", { maxTokens: { type: "integer" } })],
  ["a yes or no about tokens", form("Revoke all tokens?", { sure: { type: "boolean" } })],
  ["a choice of credentials", form("Which credential?", { which: { ...text, enum: ["a", "b"] } })],
  ["a page", { mode: "url", message: "Sign in here with your password", url: "https://pets.example/sign-in" }],
];
test.each(fine)("%s is asked", (_, request) => {
  expect(refusalOf(request, "Pets")).toBeNull();
});

test("an answer gets the defaults that it leaves open, and names stay names", () => {
  const request = form("?", { a: { ...text, default: "x" }, b: { type: "number", default: 0 }, ["__proto__"]: text });
  const answer = JSON.parse('{"b": 5, "__proto__": "p"}') as object;
  const sent = toAnswer(request, { answer });
  expect(JSON.stringify(sent)).toBe('{"action":"accept","content":{"b":5,"__proto__":"p","a":"x"}}');
});
