/** Secrets that name a caller: 256 random bits behind a word that says what it is, so that scanners and our log know one. */
import { randomBytes } from "node:crypto";

export type TokenKind = "session" | "key" | "invite";

export const newToken = (kind: TokenKind): string => `ex_${kind}_${randomBytes(32).toString("base64url")}`;

/** Anything longer or odd cannot be one, and is not worth a digest and a lookup. */
export const looksLikeToken = (text: string): boolean => /^ex_[a-z]+_[A-Za-z0-9_-]{43}$/.test(text);
