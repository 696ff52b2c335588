/** placeholder */
export function TaskDetail() {
  return null;
}
