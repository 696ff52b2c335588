/** What a child is told through its environment, and nothing else is in there. */
export interface ChildEnv {
  socketPath: string;
  token: string;
  parentPid: number;
}

/** Many live machines are slow without this; the name is not a stable API of Bun, so a child checks that it arrived. */
export const fastMemories = "BUN_JSC_maxNumWasmFastMemories";

export function readChildEnv(): ChildEnv {
  const {
    EXECUTOR_GUEST_SOCKET: socketPath,
    EXECUTOR_GUEST_TOKEN: token,
    EXECUTOR_GUEST_PARENT: parentPid,
  } = process.env;
  if (socketPath === undefined || token === undefined || parentPid === undefined)
    throw new Error("a guest child is started by its pool only");
  if (process.env[fastMemories] === undefined) throw new Error(`${fastMemories} must be set before the process starts`);
  return { socketPath, token, parentPid: Number(parentPid) };
}
