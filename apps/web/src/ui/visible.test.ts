import { describe, expect, test } from "bun:test";
import { toPieces, toPlainText, toVisibleJson } from "./visible.ts";

const marks = (text: string) => toPieces(text).flatMap((piece) => (piece.kind === "mark" ? piece.label : []));

describe("what would hide or turn text", () => {
  test("is marked, whatever it is", () => {
    const hostile: Record<string, string> = {
      "a\u202eb": "U+202E",
      "a\u2066b": "U+2066",
      "a\u200bb": "U+200B",
      "a\u001b[31mb": "U+001B",
      "a\rb": "U+000D",
      "a\u0000b": "U+0000",
      "a\u009bb": "U+009B",
      "a\u2028b": "U+2028",
      "a\u3164b": "U+3164",
      "a\u{e0041}b": "U+E0041",
      "a\ud800b": "U+D800",
      "a\udc00": "U+DC00",
    };
    for (const [text, label] of Object.entries(hostile)) expect([text, marks(text)]).toEqual([text, [label]]);
  });

  test("padding is folded and counted, ordinary breaks are not", () => {
    expect(marks(`safe${"\n".repeat(300)}rm -rf`)).toEqual(["300 line breaks"]);
    expect(marks(`safe${" ".repeat(500)}rm -rf`)).toEqual(["500 blanks"]);
    expect(marks("one\n\ntwo\tthree  four")).toEqual([]);
  });

  test("honest text in any script is left alone", () => {
    for (const text of ["grüße 🦊", "日本語", "שלום עולם", "naïve é", "👍🏽"]) expect(marks(text)).toEqual([]);
  });

  test("nothing is lost: the pieces are the text", () => {
    const text = "a\u202eb\u200bc";
    expect(
      toPieces(text)
        .map((piece) => (piece.kind === "text" ? piece.text : "?"))
        .join(""),
    ).toBe("a?b?c");
  });
});

test("plain text is one bounded line", () => {
  expect(toPlainText("a\u202e\n b".repeat(3), 20)).toBe("a[U+202E] ba[U+202E]…");
});

test("JSON shows what is invisible in its escaped form, and parses to the same value", () => {
  const value = { "ke\u200by": "x\u202ey\u2028\u{e0041}", text: "a\nb", blanks: " ".repeat(70) };
  const shown = toVisibleJson(value);
  expect(shown).toContain("ke\\u200by");
  expect(shown).toContain("\\u202e");
  expect(JSON.parse(shown)).toEqual(value);
});
