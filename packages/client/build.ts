/**
 * Builds the package that leaves the repository into `dist/` (or the folder given): `npm pack ./dist` makes the tarball.
 * One ESM file without dependencies for Node 20, Bun and browsers; declarations of the SDK and of the contracts it speaks,
 * which are zod's types, so zod is a dependency for TypeScript only. Inside the workspace nothing of this is needed.
 */
const root = `${import.meta.dir}/../..`;
const target = Bun.argv[2] ?? `${import.meta.dir}/dist`;

await buildBundle();
await buildTypes();
await writeManifest();

async function buildBundle(): Promise<void> {
  const entrypoints = [`${import.meta.dir}/src/index.ts`];
  const built = await Bun.build({ entrypoints, outdir: target, target: "browser", format: "esm", env: "disable" });
  if (!built.success) throw new AggregateError(built.logs, "the bundle cannot be built");
}

async function buildTypes(): Promise<void> {
  const types = `${target}/types`;
  await Bun.$`rm -rf ${types}`;
  const tsc = [`${root}/node_modules/.bin/tsc`, "-p", `${import.meta.dir}/tsconfig.build.json`, "--outDir", types];
  const child = Bun.spawn([process.execPath, ...tsc], { stdio: ["ignore", "inherit", "inherit"] });
  if ((await child.exited) !== 0) throw new Error("the declarations cannot be built");
  for await (const path of new Bun.Glob("**/*.d.ts").scan({ cwd: types, absolute: true })) {
    const text = await Bun.file(path).text();
    await Bun.write(path, pointInside(text));
  }
}

/** Contracts lie beside the SDK in the package, and a consumer's compiler wants the names of what would run. */
function pointInside(text: string): string {
  return text
    .replaceAll(/(["'])@executor\/contracts\/([\w-]+)\1/g, '"../../contracts/src/$2.js"')
    .replaceAll(/(["'])(\.{1,2}\/[^"']+)\.ts\1/g, '"$2.js"');
}

async function writeManifest(): Promise<void> {
  const { name, version, license, type } = (await Bun.file(`${import.meta.dir}/package.json`).json()) as Manifest;
  const contracts = (await Bun.file(`${root}/packages/contracts/package.json`).json()) as Manifest;
  const manifest = {
    name,
    version,
    license,
    type,
    description: "Run code with tools under approval, and follow it: the SDK of Executor.",
    sideEffects: false,
    engines: { node: ">=20" },
    exports: { ".": { types: "./types/client/src/index.d.ts", default: "./index.js" } },
    dependencies: { zod: contracts.dependencies?.zod },
  };
  await Bun.write(`${target}/package.json`, `${JSON.stringify(manifest, undefined, 2)}\n`);
  await Bun.write(`${target}/README.md`, Bun.file(`${import.meta.dir}/README.md`));
}

interface Manifest {
  name: string;
  version: string;
  license: string;
  type: string;
  dependencies?: Record<string, string>;
}
