/**
 * The program by which the kernel judges every system call of an isolate, as bubblewrap takes it (classic BPF). All that the engine needs
 * is let through; what it never needs and what holes in kernels are found in is refused with EPERM, and so is every new process.
 */
interface Machine {
  /** AUDIT_ARCH_… of linux/audit.h */
  audit: number;
  clone: number;
  refused: readonly number[];
}

/** Since 424 all machines number new calls alike: io_uring_*, the new mount calls, pidfd_getfd, mount_setattr, quotactl_fd, memfd_secret. */
const refusedEverywhere = [425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442, 443, 447];
const clone3 = 435;

const machines: Partial<Record<string, Machine>> = {
  x64: {
    audit: 0xc000003e,
    clone: 56,
    refused: [
      [57, 58], // fork, vfork
      [101, 310, 311, 312], // ptrace, process_vm_readv, process_vm_writev, kcmp
      [165, 166, 155, 161, 272, 308], // mount, umount2, pivot_root, chroot, unshare, setns
      [248, 249, 250], // add_key, request_key, keyctl
      [298, 321, 323, 300], // perf_event_open, bpf, userfaultfd, fanotify_init
      [303, 304], // name_to_handle_at, open_by_handle_at
      [175, 176, 313, 246, 320, 169], // init_module, delete_module, finit_module, kexec_load, kexec_file_load, reboot
      [167, 168, 163, 179, 103, 212], // swapon, swapoff, acct, quotactl, syslog, lookup_dcookie
      [164, 159, 227, 305, 170, 171], // settimeofday, adjtimex, clock_settime, clock_adjtime, sethostname, setdomainname
      [135, 154, 172, 173, 134, 136, 139, 156, 180], // personality, modify_ldt, iopl, ioperm, uselib, ustat, sysfs, _sysctl, nfsservctl
      [237, 238, 256, 278, 279], // mbind, set_mempolicy, migrate_pages, vmsplice, move_pages
    ].flat(),
  },
  arm64: {
    audit: 0xc00000b7,
    clone: 220,
    refused: [
      [117, 270, 271, 272], // ptrace, process_vm_readv, process_vm_writev, kcmp
      [40, 39, 41, 51, 97, 268], // mount, umount2, pivot_root, chroot, unshare, setns
      [217, 218, 219], // add_key, request_key, keyctl
      [241, 280, 282, 262], // perf_event_open, bpf, userfaultfd, fanotify_init
      [264, 265], // name_to_handle_at, open_by_handle_at
      [105, 106, 273, 104, 294, 142], // init_module, delete_module, finit_module, kexec_load, kexec_file_load, reboot
      [224, 225, 89, 60, 116, 18], // swapon, swapoff, acct, quotactl, syslog, lookup_dcookie
      [170, 171, 112, 266, 161, 162], // settimeofday, adjtimex, clock_settime, clock_adjtime, sethostname, setdomainname
      [92], // personality
      [235, 237, 238, 75, 239], // mbind, set_mempolicy, migrate_pages, vmsplice, move_pages
    ].flat(),
  },
};

const load = 0x20;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const jumpIfAnyBit = 0x45;
const answer = 0x06;
/** Offsets in struct seccomp_data. */
const at = { number: 0, machine: 4, firstArgument: 16 };
const verdicts = { allow: 0x7fff0000, notPermitted: 0x00050001, notThere: 0x00050026, kill: 0x80000000 };
const threadFlag = 0x00010000;
/** CLONE_NEWTIME is below: with CLONE_THREAD the kernel refuses it. */
const namespaceFlags = 0x7e020000;
/** Calls of the x32 form, which would go past the numbers above. */
const x32 = 0x40000000;

/** Undefined: no filter is known for this machine. */
export function seccompFilter(arch: string): Uint8Array | undefined {
  const machine = machines[arch];
  if (machine === undefined) return undefined;
  const refused = [...machine.refused, ...refusedEverywhere];
  const steps: [code: number, ifTrue: number, ifFalse: number, value: number][] = [
    [load, 0, 0, at.machine],
    [jumpIfEqual, 1, 0, machine.audit],
    [answer, 0, 0, verdicts.kill],
    [load, 0, 0, at.number],
    [jumpIfAtLeast, refused.length + 6, 0, x32],
    // Its flags are in memory, where no filter sees them. Told that there is none, libraries use clone.
    [jumpIfEqual, refused.length + 6, 0, clone3],
    ...refused.map((number, index): [number, number, number, number] => [
      jumpIfEqual,
      refused.length - index - 1 + 5,
      0,
      number,
    ]),
    [jumpIfEqual, 0, 3, machine.clone],
    [load, 0, 0, at.firstArgument],
    // A thread, in the same namespaces.
    [jumpIfAnyBit, 2, 0, namespaceFlags],
    [jumpIfAnyBit, 0, 1, threadFlag],
    [answer, 0, 0, verdicts.allow],
    [answer, 0, 0, verdicts.notPermitted],
    [answer, 0, 0, verdicts.notThere],
  ];
  const program = new DataView(new ArrayBuffer(steps.length * 8));
  for (const [index, [code, ifTrue, ifFalse, value]] of steps.entries()) {
    program.setUint16(index * 8, code, true);
    program.setUint8(index * 8 + 2, ifTrue);
    program.setUint8(index * 8 + 3, ifFalse);
    program.setUint32(index * 8 + 4, value, true);
  }
  return new Uint8Array(program.buffer);
}
