/** Does a document refer to other documents? A cheap look at its text, so that the rest of reading need not care. */
export function hasExternalRefs(text: string, contentType: string): boolean {
  const mark = contentType === "application/json" ? /"\$ref"\s*:\s*"(?!#)/g : /\$ref['"]?\s*:\s*['"]?(?![#'"\s])/g;
  return mark.test(text);
}
