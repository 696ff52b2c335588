/** The environment that a server's process may see parts of. */
export const processEnvironment = (): Record<string, string | undefined> => process.env;
