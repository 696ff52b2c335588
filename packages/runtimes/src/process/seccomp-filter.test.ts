/** What the filter answers, by a reader of its program as the kernel has one; and what becomes of a fork bomb behind it, for real. */
import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findSandbox } from "./find-sandbox.ts";
import { jailCommand } from "./jail.ts";
import { seccompFilter } from "./seccomp-filter.ts";

const allowed = 0x7fff0000;
const refused = 0x00050001;

function judge(program: Uint8Array, machine: number, number: number, firstArgument = 0): number {
  const view = new DataView(program.buffer);
  const data: Record<number, number> = { 0: number, 4: machine, 16: firstArgument };
  let loaded = 0;
  for (let at = 0; at < program.length / 8; at += 1) {
    const value = view.getUint32(at * 8 + 4, true);
    const jump = (isTrue: boolean): number => view.getUint8(at * 8 + (isTrue ? 2 : 3));
    switch (view.getUint16(at * 8, true)) {
      case 0x20:
        loaded = data[value] ?? 0;
        break;
      case 0x15:
        at += jump(loaded === value);
        break;
      case 0x35:
        at += jump(loaded >= value);
        break;
      case 0x45:
        at += jump((loaded & value) !== 0);
        break;
      case 0x06:
        return value;
      default:
        throw new Error(`an unknown step at ${at}`);
    }
  }
  throw new Error("the program has no end");
}

const thread = 0x003d0f00;
const machines = [
  {
    arch: "x64",
    audit: 0xc000003e,
    clone: 56,
    read: 0,
    exec: 59,
    refused: [57, 58, 101, 165, 250, 272, 298, 321, 323],
  },
  { arch: "arm64", audit: 0xc00000b7, clone: 220, read: 63, exec: 221, refused: [40, 97, 117, 219, 241, 280, 282] },
];

test.each(machines)(
  "on $arch: what is refused, and what the engine needs",
  ({ arch, audit, clone, read, exec, refused: list }) => {
    const program = seccompFilter(arch) ?? new Uint8Array();
    for (const number of [...list, 425, 427, 447])
      expect([number, judge(program, audit, number)]).toEqual([number, refused]);
    for (const number of [read, exec, 424, 434])
      expect([number, judge(program, audit, number)]).toEqual([number, allowed]);
    expect(judge(program, audit, clone, thread)).toBe(allowed);
    // A new process, and a thread in a namespace of its own.
    expect(judge(program, audit, clone, 17)).toBe(refused);
    expect(judge(program, audit, clone, thread | 0x10000000)).toBe(refused);
    expect(judge(program, audit, 435)).toBe(0x00050026);
    expect(judge(program, audit, 0x40000000 + read)).toBe(refused);
    expect(judge(program, 0x40000003, read)).toBe(0x80000000);
  },
);

test("there is none for a machine whose calls are not known", () => {
  expect(seccompFilter("riscv64")).toBeUndefined();
});

test.if(Bun.which("bwrap") !== null)("a fork bomb inside bubblewrap ends at once", async () => {
  const directory = mkdtempSync(join(tmpdir(), "ex-bomb-"));
  const socketDirectory = join(directory, "1");
  mkdirSync(socketDirectory);
  const bare = {
    enginePath: "/bin/sh",
    scriptPath: "/dev/null",
    memoryBytes: 64_000_000,
    cpuMs: 2_000,
    user: undefined,
  };
  const sandbox = await findSandbox({ ...bare, enginePath: "/bin/true" }, directory, true);
  expect(sandbox.seccompPath).toBeDefined();
  const { command, env } = jailCommand({ ...bare, ...sandbox, socketDirectory });
  const bomb = [...command.slice(0, command.lastIndexOf("run")), "-c", "echo on; b() { b | b & }; b; echo after"];
  const child = Bun.spawn(bomb, { env, stdin: "ignore", stdout: "pipe", stderr: "pipe", timeout: 5_000 });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  await child.exited;
  expect(stdout).toBe("on\n");
  expect(stderr).toMatch(/fork/);
  rmSync(directory, { recursive: true });
});
