/**
 * Stored indexes and documents, by digest. An artifact is written part by part (a store may bound a transaction), is there once
 * its last part is, and never changes. The body is text; who writes it decides what it means.
 */
import type { Tx } from "../tx.ts";

const ownerOf = (digest: string): string => `artifact/${digest}`;

/** True when this was the part that was still missing, or everything was there before. */
export async function putArtifactPart(
  tx: Tx,
  args: { digest: string; part: number; parts: number; bytes: number; body: string; now: number },
): Promise<{ complete: boolean }> {
  const { digest, part, parts, bytes, body, now } = args;
  const known = await tx.get("artifacts", digest);
  if (known?.complete === 1) return { complete: true };
  if (!known) await tx.insert("artifacts", { digest, parts, bytes, complete: 0, createdAt: now });
  const chunkKey = `${ownerOf(digest)}/${part}`;
  // Two processes may write the same artifact: the parts are the same, by its digest.
  if (!(await tx.get("chunks", chunkKey))) await tx.insert("chunks", { chunkKey, owner: ownerOf(digest), part, body });
  if (part !== parts - 1) return { complete: false };
  await tx.update("artifacts", digest, { complete: 1 });
  return { complete: true };
}

/** Null when it is not there, or not yet. */
export async function readArtifact(
  tx: Tx,
  { digest }: { digest: string },
): Promise<{ parts: number; bytes: number } | null> {
  const found = await tx.get("artifacts", digest);
  return found?.complete === 1 ? { parts: found.parts, bytes: found.bytes } : null;
}

export async function readArtifactParts(
  tx: Tx,
  args: { digest: string; from: number; limit: number },
): Promise<string[]> {
  const chunks = await tx.find("chunks", {
    index: "byOwner",
    eq: [ownerOf(args.digest)],
    after: args.from - 1,
    limit: args.limit,
  });
  return chunks.map(({ body }) => body);
}

/** Removes it unless a source still uses it. */
export async function removeArtifact(tx: Tx, { digest }: { digest: string }): Promise<boolean> {
  const used =
    (await tx.find("sources", { index: "byArtifact", eq: [digest], limit: 1 })).length > 0 ||
    (await tx.find("sources", { index: "byPreviousArtifact", eq: [digest], limit: 1 })).length > 0 ||
    (await tx.find("sources", { index: "bySpecArtifact", eq: [digest], limit: 1 })).length > 0;
  const found = used ? null : await tx.get("artifacts", digest);
  if (!found) return false;
  for (let part = 0; part < found.parts; part++) await tx.remove("chunks", `${ownerOf(digest)}/${part}`);
  await tx.remove("artifacts", digest);
  return true;
}
