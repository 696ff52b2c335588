/** Files that are imported as text (`with { type: "text" }`). */
declare module "*.txt" {
  const text: string;
  export default text;
}
