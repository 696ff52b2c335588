/**
 * AES-256-GCM over one text: `v1.` and base64url of nonce, ciphertext and tag. Every sealing takes a fresh 96-bit nonce.
 * Opening is strict: one changed character, also one that a lenient decoder would pass over, and it does not open.
 * Knows nothing of keys and rows; what it throws says only that the text does not open.
 */
import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from "node:crypto";

export const SEAL_FORMAT = "v1";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** No detail: why a seal does not open is of use to nobody but an attacker. */
export class SealBroken extends Error {
  override readonly name = "SealBroken";
}

export function sealBytes(key: KeyObject, aad: Buffer, plain: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(aad);
  const sealed = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  return `${SEAL_FORMAT}.${sealed.toString("base64url")}`;
}

export function openBytes(key: KeyObject, aad: Buffer, sealed: string): Buffer {
  const bytes = decode(sealed);
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const tag = bytes.subarray(bytes.length - TAG_BYTES);
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(aad);
    decipher.setAuthTag(tag);
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES)), decipher.final()]);
  } catch {
    throw new SealBroken("the sealed text does not open");
  }
}

export function sealText(key: KeyObject, aad: Buffer, text: string): string {
  const plain = Buffer.from(text, "utf8");
  try {
    return sealBytes(key, aad, plain);
  } finally {
    plain.fill(0);
  }
}

export function openText(key: KeyObject, aad: Buffer, sealed: string): string {
  const plain = openBytes(key, aad, sealed);
  try {
    return plain.toString("utf8");
  } finally {
    plain.fill(0);
  }
}

function decode(sealed: string): Buffer {
  const [format, body, ...rest] = sealed.split(".");
  if (format !== SEAL_FORMAT || body === undefined || rest.length > 0)
    throw new SealBroken(`the sealed text is not of the format ${SEAL_FORMAT}`);
  const bytes = Buffer.from(body, "base64url");
  // Decoders skip what they do not know and ignore spare bits; only the one canonical spelling is taken.
  if (bytes.toString("base64url") !== body || bytes.length < NONCE_BYTES + TAG_BYTES)
    throw new SealBroken("the sealed text is damaged");
  return bytes;
}
