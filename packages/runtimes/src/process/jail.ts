/**
 * The command line that starts one isolate: limits of the system, another user if one is asked for, bubblewrap around it where the
 * machine has it, and the engine without permissions inside. The environment is made from nothing.
 */
import { readFileSync } from "node:fs";

export interface JailParts {
  enginePath: string;
  /** The program, one file. */
  scriptPath: string;
  /** The directory of this process's socket, and the name of the socket in it. */
  socketDirectory: string;
  memoryBytes: number;
  cpuMs: number;
  /** Path of bwrap; absent: no OS sandbox. */
  bubblewrap: string | undefined;
  /** A file with the filter of system calls that bubblewrap is to set; absent: none. */
  seccompPath: string | undefined;
  /** Path of setpriv; absent: a shell watches for the host's death instead. */
  setpriv: string | undefined;
  user: JailUser | undefined;
}

export type JailUser =
  | { kind: "root"; name: string; uid: number; gid: number }
  /** We are not root: sudo, which must not ask. */
  | { kind: "sudo"; name: string };

export interface JailCommand {
  command: string[];
  env: Record<string, string>;
  /** As the process inside sees it. */
  socketPath: string;
  /** File descriptor 3 must be a pipe that the host holds: its end kills the isolate. */
  hasLifeline: boolean;
}

/** What the engine needs for itself: below this it does not start. */
const engineDataBytes = 640_000_000;
const engineHeapMb = 24;
const socketName = "s";
const filterFd = 3;
const inside = { engine: "/engine", script: "/isolate.js", sockets: "/run/isolate" };

export function jailCommand(parts: JailParts): JailCommand {
  const { bubblewrap, socketDirectory } = parts;
  const sockets = bubblewrap === undefined ? socketDirectory : inside.sockets;
  const socketPath = `${sockets}/${socketName}`;
  const engine =
    bubblewrap === undefined
      ? engineCommand(parts, parts.enginePath, parts.scriptPath, socketPath)
      : [...bubblewrapCommand(bubblewrap, parts), ...engineCommand(parts, inside.engine, inside.script, socketPath)];
  const env = {
    TZ: "UTC",
    LANG: "C.UTF-8",
    NO_COLOR: "1",
    DENO_NO_UPDATE_CHECK: "1",
    DENO_DIR: "/nonexistent",
    HOME: "/nonexistent",
  };
  return {
    command: [...userCommand(parts, env), ...limitCommand(parts), ...dieWithHost(parts), ...engine],
    env,
    socketPath,
    hasLifeline: needsLifeline(parts),
  };
}

function engineCommand({ memoryBytes }: JailParts, engine: string, script: string, socketPath: string): string[] {
  const heapMb = Math.ceil(memoryBytes / 1_048_576) + engineHeapMb;
  return [
    engine,
    "run",
    "--quiet",
    "--no-prompt",
    "--no-config",
    "--no-lock",
    "--no-remote",
    "--no-npm",
    "--no-code-cache",
    "--cached-only",
    // Handed back by the program itself once it listens.
    `--allow-net=unix:${socketPath}`,
    `--allow-read=${socketPath}`,
    `--allow-write=${socketPath}`,
    `--v8-flags=--max-old-space-size=${heapMb}`,
    script,
  ];
}

/** Every limit is one that children inherit, set before anything of the engine runs. CPU time is a last resort: the host counts better. */
function limitCommand(parts: JailParts): string[] {
  const { cpuMs, memoryBytes, user, bubblewrap, seccompPath } = parts;
  const umask = user?.kind === "sudo" ? "0111" : "0177";
  const dataKb = Math.ceil((engineDataBytes + memoryBytes * 1.5) / 1024);
  const script = `umask ${umask}; ulimit -c 0; ulimit -n 64; ulimit -t ${Math.ceil(cpuMs / 1000) * 2 + 10}; ulimit -d ${dataKb};`;
  if (needsLifeline(parts)) return ["/bin/sh", "-c", `${script} ${lifeline} exec "$@"`, "sh"];
  if (bubblewrap === undefined || seccompPath === undefined) return ["/bin/sh", "-c", `${script} exec "$@"`, "sh"];
  // Opened here and not handed over from the host: sudo closes what it inherits.
  return ["/bin/sh", "-c", `${script} exec ${filterFd}<"$0"; exec "$@"`, seccompPath];
}

/** A guest that spins does not notice that stdin has ended; where the system cannot be asked to end it with its host, a shell waits for that. */
const lifeline = '( ( read -r _ <&3; kill -9 "-$$" ) >/dev/null 2>&1 & ); exec 3<&-;';

/** Not under sudo, which closes what it inherits. */
function needsLifeline({ setpriv, bubblewrap, user }: JailParts): boolean {
  return setpriv === undefined && bubblewrap === undefined && user === undefined;
}

function dieWithHost({ setpriv, user, bubblewrap }: JailParts): string[] {
  if (setpriv === undefined) return [];
  const asUser =
    user?.kind === "root" ? ["--reuid", String(user.uid), "--regid", String(user.gid), "--clear-groups"] : [];
  // bubblewrap sets this flag by itself, and may need a privilege to begin with.
  const noNewPrivileges = bubblewrap === undefined ? ["--no-new-privs"] : [];
  return [setpriv, ...asUser, "--pdeathsig", "KILL", ...noNewPrivileges, "--"];
}

/** sudo makes an environment of its own, which is not wanted either. */
function userCommand({ user }: JailParts, env: Record<string, string>): string[] {
  if (user?.kind !== "sudo") return [];
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return ["sudo", "-n", "-u", user.name, "--", "/usr/bin/env", "-i", ...variables];
}

function bubblewrapCommand(
  bubblewrap: string,
  { enginePath, scriptPath, socketDirectory, seccompPath }: JailParts,
): string[] {
  return [
    bubblewrap,
    "--unshare-all",
    "--die-with-parent",
    "--as-pid-1",
    "--new-session",
    "--cap-drop",
    "ALL",
    ...(seccompPath === undefined ? [] : ["--seccomp", String(filterFd)]),
    ...["/lib", "/lib64", "/usr/lib", "/usr/lib64"].flatMap((path) => ["--ro-bind-try", path, path]),
    "--ro-bind",
    enginePath,
    inside.engine,
    "--ro-bind",
    scriptPath,
    inside.script,
    "--bind",
    socketDirectory,
    inside.sockets,
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--size",
    "1048576",
    "--tmpfs",
    "/tmp",
    "--remount-ro",
    "/",
    "--chdir",
    "/tmp",
    "--",
  ];
}

const userPattern = /^[a-z_][a-z0-9_-]{0,31}$/;

/** Fails closed: a user that cannot be used is an error, never a reason to go on as somebody else. */
export function findUser(name: string, ownUid: number | undefined): JailUser | { problem: string } {
  if (!userPattern.test(name))
    return { problem: `EXECUTOR_ISOLATE_USER must be the name of a Unix user; it is "${name.slice(0, 50)}"` };
  const fields = readUsers()
    .map((line) => line.split(":"))
    .find(([known]) => known === name);
  const uid = Number(fields?.[2]);
  const gid = Number(fields?.[3]);
  if (fields === undefined || !Number.isInteger(uid) || !Number.isInteger(gid))
    return {
      problem: `EXECUTOR_ISOLATE_USER names ${name}, which is no user of this machine; create it, or name another`,
    };
  if (uid === 0) return { problem: "EXECUTOR_ISOLATE_USER must not be root" };
  return ownUid === 0 ? { kind: "root", name, uid, gid } : { kind: "sudo", name };
}

function readUsers(): string[] {
  try {
    return readFileSync("/etc/passwd", "utf8").split("\n");
  } catch {
    return [];
  }
}
