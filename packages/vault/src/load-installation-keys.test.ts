import { afterEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTemporaryStores } from "@executor/testkit/vault/temporary-stores";
import { createProviders, readVaultSettings } from "./create-providers.ts";
import { newKeyText } from "./installation-key.ts";
import { type Keychain, openKeychain, type RunCommand } from "./keychain.ts";
import { KEY_FILE, loadInstallationKeys } from "./load-installation-keys.ts";

const dirs: string[] = [];
const newHome = (): string => {
  const dir = mkdtempSync(join(tmpdir(), "executor-key-"));
  dirs.push(dir);
  return dir;
};
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});
function collectWarnings() {
  const warnings: string[] = [];
  return { warnings, warn: (message: string) => void warnings.push(message) };
}
const load = async (home: string, patch: object = {}) =>
  (await loadInstallationKeys({ home, warn: collectWarnings().warn, ...patch })).current.id;

describe("the key file", () => {
  test("is made once, for its owner only, and leaves no draft behind", async () => {
    const home = join(newHome(), "deep");
    const first = await load(home);
    expect(await load(home)).toBe(first);
    expect(statSync(join(home, KEY_FILE)).mode & 0o777).toBe(0o600);
    expect(readdirSync(home)).toEqual([KEY_FILE]);
    expect(Buffer.from(readFileSync(join(home, KEY_FILE), "utf8"), "base64")).toHaveLength(32);
  });

  test("that others can read is made private, and somebody is told", async () => {
    const home = newHome();
    const first = await load(home);
    chmodSync(join(home, KEY_FILE), 0o644);
    const { warnings, warn } = collectWarnings();
    expect(await load(home, { warn })).toBe(first);
    expect(statSync(join(home, KEY_FILE)).mode & 0o777).toBe(0o600);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("could be read by others");
  });

  test("that holds no key is refused and left as it is", async () => {
    for (const text of ["", "not a key", Buffer.alloc(31).toString("base64"), `${newKeyText()}${newKeyText()}`]) {
      const home = newHome();
      writeFileSync(join(home, KEY_FILE), text, { mode: 0o600 });
      await expect(load(home)).rejects.toThrow(/credential.unreadable.*Restore it from a backup/);
      expect(readFileSync(join(home, KEY_FILE), "utf8")).toBe(text);
    }
  });

  test("a value that is given comes before the file, and no file is made", async () => {
    const home = newHome();
    const given = newKeyText();
    expect(await load(home, { given })).toBe(await load(newHome(), { given }));
    expect(existsSync(join(home, KEY_FILE))).toBe(false);
  });
});

test("four processes that need the keys at the same moment agree on the key file and on the workspace key", async () => {
  const stores = openTemporaryStores();
  try {
    const store = await stores.connect();
    const workspaceId = await stores.addWorkspace(store);
    const home = join(stores.dir, "home");
    const script = join(import.meta.dir, "../../testkit/src/vault/make-keys.ts");
    const startAt = String(Date.now() + 700);
    const children = Array.from({ length: 4 }, () =>
      Bun.spawn([process.execPath, script, home, stores.path, workspaceId, startAt], { stderr: "inherit" }),
    );
    const sealed = await Promise.all(children.map((child) => new Response(child.stdout).text()));
    const vault = createProviders({
      home,
      settings: readVaultSettings({}),
      environment: {},
      store,
      fetch: () => Promise.reject(new Error("nothing is fetched here")),
      now: Date.now,
      warn: () => undefined,
    });
    const opened = await Promise.all(sealed.map((text) => vault.sealer.open(workspaceId, "race", "1", text.trim())));
    expect(opened.toSorted()).toEqual(children.map(({ pid }) => `from ${pid}`).toSorted());
    expect(readdirSync(home)).toEqual([KEY_FILE]);
  } finally {
    await stores.stop();
  }
}, 30_000);

describe("the keychain", () => {
  function fakeKeychain(): Keychain & { value: string | null; locked: boolean } {
    return {
      value: null,
      locked: false,
      async read() {
        if (this.locked) throw new Error("locked");
        return this.value;
      },
      async write(value) {
        if (this.locked) throw new Error("locked");
        this.value = value;
      },
    };
  }

  test("takes over the key that was in the file, and the file goes", async () => {
    const home = newHome();
    const inFile = await load(home);
    const keychain = fakeKeychain();
    expect(await load(home, { keychain })).toBe(inFile);
    expect(existsSync(join(home, KEY_FILE))).toBe(false);
    expect(await load(home, { keychain })).toBe(inFile);
  });

  test("gives the same key to all who start at once", async () => {
    const home = newHome();
    const keychain = fakeKeychain();
    const ids = await Promise.all(Array.from({ length: 8 }, () => load(home, { keychain })));
    expect(new Set(ids).size).toBe(1);
  });

  test("that cannot be used leaves the key in the file, with a warning", async () => {
    const home = newHome();
    const { warnings, warn } = collectWarnings();
    const id = await load(home, { keychain: { ...fakeKeychain(), locked: true }, warn });
    expect(await load(home)).toBe(id);
    expect(warnings.join()).toContain("stays in a file");
  });

  test("that has the key and is locked, or lost it, is an error and not a new key", async () => {
    const home = newHome();
    const keychain = fakeKeychain();
    await load(home, { keychain });
    keychain.locked = true;
    await expect(load(home, { keychain })).rejects.toThrow(/credential.unreadable.*Unlock it/);
    await expect(load(home, { keychain: fakeKeychain() })).rejects.toThrow(/gone from the keychain/);
    expect(existsSync(join(home, KEY_FILE))).toBe(false);
  });

  test("is written through standard input, so that no argument shows the key", async () => {
    for (const platform of ["darwin", "linux"]) {
      const seen: { args: string; stdin: string }[] = [];
      const run: RunCommand = async (command, args, stdin) => {
        seen.push({ args: [command, ...args].join(" "), stdin });
        return { exitCode: 0, stdout: "" };
      };
      await openKeychain(platform, "account", run)?.write("key-text");
      expect(seen).toHaveLength(1);
      expect(seen[0]?.stdin).toContain("key-text");
      expect(seen[0]?.args).not.toContain("key-text");
    }
    expect(openKeychain("win32", "account")).toBeNull();
  });

  test("tells an item that is not there from a keychain that does not work", async () => {
    const answering =
      (exitCode: number, stdout = "") =>
      async () => ({ exitCode, stdout });
    expect(await openKeychain("darwin", "a", answering(44))?.read()).toBeNull();
    expect(await openKeychain("linux", "a", answering(1))?.read()).toBeNull();
    expect(await openKeychain("linux", "a", answering(0, "value\n"))?.read()).toBe("value");
    await expect(openKeychain("darwin", "a", answering(36))?.read() ?? null).rejects.toThrow("ended with 36");
    await expect(openKeychain("linux", "a", answering(2))?.read() ?? null).rejects.toThrow("ended with 2");
  });
});

describe("settings", () => {
  test("come from the variables, and a key that is none is named without its value", () => {
    const [secretsKey, old] = [newKeyText(), newKeyText()];
    const environment = {
      EXECUTOR_SECRETS_KEY: secretsKey,
      EXECUTOR_SECRETS_KEY_PREVIOUS: `${old},`,
      EXECUTOR_KEYRING: "1",
    };
    expect(readVaultSettings(environment)).toEqual({
      secretsKey,
      previousKeys: [old],
      useKeychain: true,
      workosApiKey: null,
      workosUrl: null,
    });
    for (const name of ["EXECUTOR_SECRETS_KEY", "EXECUTOR_SECRETS_KEY_PREVIOUS"]) {
      const read = () => readVaultSettings({ [name]: "canary-key" });
      expect(read).toThrow(`${name} must be the base64 of 32 bytes`);
      expect(read).not.toThrow(/canary/);
    }
  });
});
