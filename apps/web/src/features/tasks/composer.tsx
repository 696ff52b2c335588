/** placeholder */
export function Composer() {
  return null;
}
