/** A refusal before there is a request of the protocol to answer: JSON-RPC without an id, with a proper HTTP status. */
export const answerRpc = (
  status: number,
  code: number,
  message: string,
  { headers = {}, data }: { headers?: Record<string, string>; data?: unknown } = {},
): Response =>
  Response.json(
    { jsonrpc: "2.0", error: { code, message, ...(data !== undefined && { data }) }, id: null },
    { status, headers },
  );
