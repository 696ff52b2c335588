import { expect, test } from "bun:test";
import { setUps } from "./set-ups.ts";

test("each set-up carries address and key, and what is JSON can be read", () => {
  const made = setUps("http://127.0.0.1:8788", "ex_key_1");
  expect(made.map(({ id }) => id)).toEqual(["claude-code", "cursor", "codex", "vs-code", "sdk", "curl"]);
  for (const { id, text } of made) {
    expect(text).toContain("http://127.0.0.1:8788");
    if (id !== "sdk") expect(text).toContain("ex_key_1");
    if (id === "cursor" || id === "vs-code") expect(() => JSON.parse(text)).not.toThrow();
  }
});
