import { expect, test } from "bun:test";
import { createSecretKey, randomBytes } from "node:crypto";
import { associatedData } from "./associated-data.ts";
import { openText, SealBroken, sealText } from "./seal-text.ts";

const key = createSecretKey(randomBytes(32));
const aad = associatedData("test", "a");
const text = `{"token":"ключ 🔑"}`;
const breaks = (sealed: string, withKey = key, withAad = aad) =>
  expect(() => openText(withKey, withAad, sealed)).toThrow(SealBroken);

test("what was sealed opens, whatever it is", () => {
  for (const plain of ["", text, "x".repeat(200_000)])
    expect(openText(key, aad, sealText(key, aad, plain))).toBe(plain);
});

test("no two sealings of one text are alike, and none shows the text", () => {
  const sealed = Array.from({ length: 200 }, () => sealText(key, aad, text));
  expect(new Set(sealed.map((each) => each.slice(0, 19))).size).toBe(200);
  for (const each of sealed) expect(Buffer.from(each.slice(3), "base64url").includes("token")).toBe(false);
});

test("one bit changed anywhere, in nonce, ciphertext or tag, and it does not open", () => {
  const sealed = sealText(key, aad, text);
  const bytes = Buffer.from(sealed.slice(3), "base64url");
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
    breaks(`v1.${changed.toString("base64url")}`);
  }
});

test("cut, lengthened, respelt or of another format, it does not open", () => {
  const sealed = sealText(key, aad, text);
  const bytes = Buffer.from(sealed.slice(3), "base64url");
  for (let length = 0; length < bytes.length; length++) breaks(`v1.${bytes.subarray(0, length).toString("base64url")}`);
  breaks(`v1.${Buffer.concat([bytes, Buffer.from([0])]).toString("base64url")}`);
  for (const odd of [
    "",
    "v1",
    "v1.",
    sealed.slice(3),
    `v2.${sealed.slice(3)}`,
    `${sealed}.`,
    `${sealed}=`,
    ` ${sealed}`,
  ])
    breaks(odd);
  breaks(`${sealed.slice(0, 10)} ${sealed.slice(10)}`);
  breaks(`${sealed}\n`);
});

test("spare bits of the last character are not free to choose", () => {
  // 28 bytes and more: pick a text whose length leaves spare bits.
  const sealed = sealText(key, aad, "ab");
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const others = [...alphabet]
    .filter((letter) => letter !== sealed.at(-1))
    .map((letter) => sealed.slice(0, -1) + letter);
  for (const other of others) breaks(other);
});

test("with another key or bound to something else, it does not open", () => {
  const sealed = sealText(key, aad, text);
  breaks(sealed, createSecretKey(randomBytes(32)));
  breaks(sealed, key, associatedData("test", "b"));
  breaks(sealed, key, associatedData("test"));
  breaks(sealed, key, associatedData("test", "a", ""));
});

test("parts of associated data never run into each other", () => {
  const lists = [["a", "bc"], ["ab", "c"], ["abc"], ["abc", ""], ["", "abc"], ["a", "b", "c"], ["é"], ["e\u0301"]];
  const made = lists.map(([domain = "", ...parts]) => associatedData(domain, ...parts).toString("hex"));
  expect(new Set(made).size).toBe(lists.length);
});
