/**
 * What a sealed text is bound to, as bytes. Each part is preceded by its length, so that no two lists of parts give the
 * same bytes ("a","bc" is not "ab","c"); the first part is the domain, so that one use cannot pass for another.
 */
export function associatedData(domain: string, ...parts: readonly string[]): Buffer {
  return Buffer.concat(
    [domain, ...parts].flatMap((part) => {
      const bytes = Buffer.from(part, "utf8");
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}
