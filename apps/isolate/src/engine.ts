/**
 * What this process takes from its engine (Deno), once, before any guest exists; then the engine's global is removed.
 * Nothing here needs a permission but listening on the socket, and that one is handed back as soon as the socket is there.
 */
export interface Connection {
  read(into: Uint8Array): Promise<number | null>;
  write(bytes: Uint8Array): Promise<number>;
  close(): void;
}

export interface VmModule {
  createContext(kind: unknown): object;
  runInContext(code: string, context: object, options: { filename: string }): unknown;
  constants: { DONT_CONTEXTIFY: unknown };
}

interface EngineCore {
  runMicrotasks(): void;
  getPromiseDetails(promise: unknown): [state: 0 | 1 | 2, value: unknown];
  setUnhandledPromiseRejectionHandler(handler: (promise: unknown, reason: unknown) => boolean): void;
  setHandledPromiseRejectionHandler(handler: (promise: unknown, reason: unknown) => boolean): void;
}

type Permission = { name: string };

interface DenoGlobal {
  internal: string;
  listen(options: { transport: "unix"; path: string }): { accept(): Promise<Connection> };
  stdin: { read(into: Uint8Array): Promise<number | null> };
  stdout: { writeSync(bytes: Uint8Array): number };
  exit(code: number): never;
  version: { deno: string };
  cpuUsage(): { user: number; system: number };
  permissions: { querySync(permission: Permission): { state: string }; revokeSync(permission: Permission): unknown };
  [internal: string]: unknown;
}

interface EngineProcess {
  getBuiltinModule(name: "node:vm"): VmModule;
  getBuiltinModule(name: "node:v8"): { getHeapStatistics(): { used_heap_size: number; external_memory: number } };
  getBuiltinModule(name: "node:timers"): { setImmediate(run: () => void): unknown };
  nextTick(run: () => void): void;
}

export type Engine = ReturnType<typeof takeEngine>;

const permissionNames = ["read", "write", "net", "env", "run", "ffi", "sys", "import"];

export function takeEngine() {
  const scope = globalThis as unknown as { Deno?: DenoGlobal; process?: EngineProcess };
  const { Deno: deno, process: engineProcess } = scope;
  if (deno === undefined || engineProcess === undefined) throw new Error("the isolate runs in Deno only");
  const { core } = deno[deno.internal] as { core: EngineCore };
  const { nextTick } = engineProcess;
  const { performance } = globalThis;
  const { listen, stdin, stdout, permissions, exit, cpuUsage } = deno;
  const heap = engineProcess.getBuiltinModule("node:v8");
  const name = `deno ${deno.version.deno}`;
  const taken = {
    name,
    vm: engineProcess.getBuiltinModule("node:vm"),
    setImmediate: engineProcess.getBuiltinModule("node:timers").setImmediate,
    /** After the microtasks that are due, outside of them, and sooner than setImmediate. */
    nextTick: (run: () => void) => nextTick(run),
    exit: (code: number): never => exit(code),
    readInput: (into: Uint8Array) => stdin.read(into),
    writeNow: (bytes: Uint8Array) => stdout.writeSync(bytes),
    listen: (path: string) => listen({ transport: "unix", path }),
    dropPermissions: () => {
      for (const permission of permissionNames) permissions.revokeSync({ name: permission });
    },
    grantedPermissions: () =>
      permissionNames.filter((permission) => permissions.querySync({ name: permission }).state === "granted"),
    runMicrotasks: () => core.runMicrotasks(),
    promiseDetails: (promise: unknown) => core.getPromiseDetails(promise),
    onRejection: (note: (promise: unknown, reason: unknown, handled: boolean) => void) => {
      core.setUnhandledPromiseRejectionHandler((promise, reason) => (note(promise, reason, false), true));
      core.setHandledPromiseRejectionHandler((promise, reason) => (note(promise, reason, true), true));
    },
    nowMs: () => performance.now(),
    cpuMs: () => {
      const { user, system } = cpuUsage();
      return (user + system) / 1000;
    },
    memory: () => {
      const { used_heap_size, external_memory } = heap.getHeapStatistics();
      return { heapBytes: used_heap_size, bufferBytes: external_memory };
    },
  };
  for (const key of ["Deno", "process", "Buffer", "global", "fetch", "Worker", "WebSocket"])
    Reflect.deleteProperty(globalThis, key);
  return taken;
}
