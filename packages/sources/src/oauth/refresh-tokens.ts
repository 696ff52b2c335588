export async function refreshTokens(_: unknown): Promise<never> { throw new Error("pending"); }
