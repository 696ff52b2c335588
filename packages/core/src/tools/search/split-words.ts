/**
 * Cuts a text or a name into words: at anything that is no letter or digit, at camelCase humps, and between a word and its
 * number. Words come in lower case, without accents; scripts without spaces come as pairs of characters.
 * Called for every name and description of every tool, so it reads characters and builds no patterns.
 */

/** `hump` is true for all words of a camelCase word but its first. */
export type OnWord = (word: string, hump: boolean) => void;

export function splitWords(text: string, onWord: OnWord): void {
  const plain = isAscii(text) ? text : foldAccents(text);
  const { length } = plain;
  let at = 0;
  while (at < length) {
    while (at < length && !isWordUnit(plain.charCodeAt(at))) at++;
    const from = at;
    while (at < length && isWordUnit(plain.charCodeAt(at))) at++;
    if (at > from) splitRun(plain, from, at, onWord);
    // What follows an apostrophe is an ending ("user's", "don't"), not a word.
    if (at > from && isApostrophe(plain.charCodeAt(at))) {
      at++;
      while (at < length && at < from + 64 && isLower(plain.charCodeAt(at)) && isLower(plain.charCodeAt(at + 1))) at++;
      if (isLower(plain.charCodeAt(at))) at++;
    }
  }
}

export function wordsOf(text: string): string[] {
  const words: string[] = [];
  splitWords(text, (word) => words.push(word));
  return words;
}

function splitRun(text: string, from: number, to: number, onWord: OnWord): void {
  if (text.charCodeAt(from) > 127 && isUnspaced(text.charCodeAt(from)))
    return splitUnspaced(text.slice(from, to), onWord);
  let start = from;
  for (let at = from + 1; at < to; at++) {
    if (!isHump(text, at, to)) continue;
    emit(text.slice(start, at), start > from, onWord);
    start = at;
  }
  emit(text.slice(start, to), start > from, onWord);
}

/** Before `at`: fooBar, HTTPServer; but not in URLs or IDs. */
function isHump(text: string, at: number, to: number): boolean {
  if (!isUpper(text.charCodeAt(at))) return false;
  const before = text.charCodeAt(at - 1);
  if (isLower(before) || isDigit(before)) return true;
  if (!isUpper(before) || at + 1 >= to || !isLower(text.charCodeAt(at + 1))) return false;
  return !(text.charCodeAt(at + 1) === 115 && (at + 2 >= to || !isLower(text.charCodeAt(at + 2))));
}

/** oauth2 is the word oauth; v1, s3 and k8s are words of their own. */
function emit(cased: string, hump: boolean, onWord: OnWord): void {
  const word = cased.toLowerCase();
  let letters = word.length;
  while (letters > 0 && isDigit(word.charCodeAt(letters - 1))) letters--;
  onWord(letters >= 3 && letters < word.length ? word.slice(0, letters) : word, hump);
}

function splitUnspaced(run: string, onWord: OnWord): void {
  if (run.length <= 2) return onWord(run.toLowerCase(), false);
  for (let at = 0; at + 2 <= run.length; at++) onWord(run.slice(at, at + 2).toLowerCase(), false);
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false;
  return true;
}

const foldAccents = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .normalize("NFC");

const isLower = (unit: number): boolean => unit >= 97 && unit <= 122;
const isUpper = (unit: number): boolean => unit >= 65 && unit <= 90;
const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57;
const isApostrophe = (unit: number): boolean => unit === 39 || unit === 0x2019;

function isWordUnit(unit: number): boolean {
  if (unit < 128) return isLower(unit) || isUpper(unit) || isDigit(unit);
  const isSign =
    unit < 0xc0 || (unit >= 0x2000 && unit < 0x2c00) || (unit >= 0x3000 && unit < 0x3040) || unit >= 0xfe00;
  return !isSign;
}

/** Kana, Han and Hangul. */
const isUnspaced = (unit: number): boolean =>
  (unit >= 0x3040 && unit < 0x3100) || (unit >= 0x3400 && unit < 0xa000) || (unit >= 0xac00 && unit < 0xd7a4);
