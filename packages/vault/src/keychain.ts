/**
 * The keychain of the operating system, as far as one key needs it. Secrets go in through standard input, never as an
 * argument: arguments can be seen by everybody on the machine.
 */
import { spawn } from "node:child_process";

export interface Keychain {
  /** Null when it holds none. Throws when the keychain cannot be used. */
  read(): Promise<string | null>;
  write(value: string): Promise<void>;
}

export interface CommandResult {
  exitCode: number;
  stdout: string;
}
export type RunCommand = (command: string, args: readonly string[], stdin: string) => Promise<CommandResult>;

const SERVICE = "executor";
/** A keychain may ask its owner to unlock it; a service without a screen must not hang on that. */
const TIMEOUT_MS = 15_000;

/** Null where there is no keychain that we know. `account` tells installations of one user apart. */
export function openKeychain(platform: string, account: string, run: RunCommand = runCommand): Keychain | null {
  if (platform === "darwin") return macKeychain(account, run);
  return platform === "linux" ? secretService(account, run) : null;
}

/** Exit code of `security` for an item that is not there. */
const MAC_NOT_FOUND = 44;

function macKeychain(account: string, run: RunCommand): Keychain {
  return {
    async read() {
      const found = await run("security", ["find-generic-password", "-s", SERVICE, "-a", account, "-w"], "");
      if (found.exitCode === MAC_NOT_FOUND) return null;
      return succeeded(found, "security").stdout.trim() || null;
    },
    async write(value) {
      // `-i` reads commands from standard input; the value is base64 and needs no quoting.
      const command = `add-generic-password -U -s ${SERVICE} -a ${account} -w ${value}\n`;
      succeeded(await run("security", ["-i"], command), "security");
    },
  };
}

function secretService(account: string, run: RunCommand): Keychain {
  const attributes = ["service", SERVICE, "account", account];
  return {
    async read() {
      const found = await run("secret-tool", ["lookup", ...attributes], "");
      // It answers 1 without a word for an item that is not there, and complains on stderr for everything else.
      if (found.exitCode === 1 && found.stdout === "") return null;
      return succeeded(found, "secret-tool").stdout.trim() || null;
    },
    async write(value) {
      const store = ["store", "--label=Executor secrets key", ...attributes];
      succeeded(await run("secret-tool", store, value), "secret-tool");
    },
  };
}

function succeeded(result: CommandResult, tool: string): CommandResult {
  if (result.exitCode !== 0) throw new Error(`${tool} ended with ${result.exitCode}`);
  return result;
}

/** Whoever complains on stderr gets no exit code of 1: that one means "not there". */
const runCommand: RunCommand = (command, args, stdin) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], timeout: TIMEOUT_MS });
    let [stdout, complained] = ["", false];
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString("utf8")));
    child.stderr.on("data", () => (complained = true));
    child.on("error", reject);
    child.on("close", (code) => resolve({ exitCode: code === 1 && complained ? 2 : (code ?? 2), stdout }));
    child.stdin.on("error", () => undefined);
    child.stdin.end(stdin);
  });
