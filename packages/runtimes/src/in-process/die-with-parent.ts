/**
 * Makes the kernel kill this process when its parent dies (Linux). Closing the socket is the second way, but a child that is stuck
 * inside the engine never sees that. Elsewhere only the second way exists.
 */
import { dlopen, FFIType } from "bun:ffi";

const prSetPdeathsig = 1;
const sigkill = 9;
const libraries = ["libc.so.6", "libc.so", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];

export function dieWithParent(parentPid: number): void {
  if (process.platform === "linux") {
    for (const library of libraries) {
      try {
        const { symbols, close } = dlopen(library, {
          prctl: { args: [FFIType.i32, FFIType.u64, FFIType.u64, FFIType.u64, FFIType.u64], returns: FFIType.i32 },
        });
        symbols.prctl(prSetPdeathsig, BigInt(sigkill), 0n, 0n, 0n);
        close();
        break;
      } catch {
        // Not this libc; the next name, and in the end the socket alone.
      }
    }
  }
  // The parent may have died before the call above.
  if (process.ppid !== parentPid) process.exit(0);
}
