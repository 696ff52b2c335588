/**
 * Makes the isolate's program one file, as text: the engine may read nothing, so there is nothing to import at run time.
 * The program runs as a script called isolate.js, so that no stack a guest could lay hands on shows a path of the host.
 */
export async function bundleIsolate(entry: string): Promise<string> {
  const built = await Bun.build({
    entrypoints: [entry],
    target: "browser",
    format: "iife",
    minify: { syntax: true, whitespace: true },
  });
  const [output] = built.outputs;
  if (!built.success || output === undefined)
    throw new Error(`the isolate's program could not be put together: ${built.logs.join("\n")}`);
  const script = JSON.stringify(await output.text());
  return `process.getBuiltinModule("node:vm").runInThisContext(${script}, { filename: "isolate.js" });\n`;
}
