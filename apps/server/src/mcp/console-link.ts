/** Where a person decides or gives what a task waits for. */
export const consoleLink = (base: string, interactionId: string): string =>
  `${base}/interactions/${encodeURIComponent(interactionId)}`;
