/** Files that are imported as text or as a path (`with { type: … }`), not as modules. */
declare module "*.guest.js" {
  const text: string;
  export default text;
}
declare module "*.wasm" {
  const path: string;
  export default path;
}
