/** placeholder */
export function InteractionPage() {
  return null;
}
