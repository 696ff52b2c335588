/** Secrets that are looked for afterwards, in every form in which a text usually travels. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { randomBytes } from "node:crypto";

export class Canaries {
  readonly #slots = new Map<string, string>();

  /** `odd`: with characters that URLs, JSON and HTML write in another way. */
  make(slot: string, odd = false): string {
    const text = `cnry${randomBytes(12).toString("hex")}${odd ? "+/<&'=~é" : ""}`;
    return this.add(slot, text);
  }

  /** One that was made elsewhere: a token, a state. */
  add(slot: string, text: string): string {
    this.#slots.set(slot, text);
    return text;
  }

  get slots(): ReadonlyMap<string, string> {
    return this.#slots;
  }

  /** The slots of which something is in the bytes, with the form. */
  findIn(bytes: Buffer, except: readonly string[] = []): string[] {
    const found: string[] = [];
    for (const [slot, text] of this.#slots) {
      if (except.includes(slot)) continue;
      for (const [form, needle] of formsOf(text)) if (bytes.includes(needle)) found.push(`${slot} as ${form}`);
    }
    return found;
  }
}

function formsOf(text: string): [form: string, needle: Buffer][] {
  const bytes = Buffer.from(text, "utf8");
  const hex = bytes.toString("hex");
  const forms: [string, string][] = [
    ["it is", text],
    ["UTF-16", bytes.toString("utf8")],
    ["percent", encodeURIComponent(text)],
    ["JSON", JSON.stringify(text).slice(1, -1)],
    ["hex", hex],
    ["HEX", hex.toUpperCase()],
    ...[0, 1, 2].flatMap((lead): [string, string][] => {
      const padded = Buffer.concat([Buffer.alloc(lead), bytes]);
      // Only the characters that depend on nothing before or after it.
      const core = padded.toString("base64").slice(lead === 0 ? 0 : lead + 1, Math.floor((padded.length * 8) / 6));
      return [
        [`base64 at ${lead}`, core],
        [`base64url at ${lead}`, core.replaceAll("+", "-").replaceAll("/", "_")],
      ];
    }),
  ];
  return forms.map(([form, needle]) => [form, Buffer.from(needle, form === "UTF-16" ? "utf16le" : "utf8")]);
}

/** Every file below a directory, sockets left out. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
}

/** Looks at arguments and environments of processes again and again, as another user of the machine might. */
export class ProcessWatch {
  readonly #timer: ReturnType<typeof setInterval>;
  /** What was seen, each once: "argv of 12: …". */
  readonly seen = new Map<string, Buffer>();

  constructor(pids: () => { pid: number; environment: boolean }[]) {
    this.#timer = setInterval(() => {
      for (const { pid, environment } of pids()) {
        this.#keep(`argv of ${pid}`, `/proc/${pid}/cmdline`);
        if (environment) this.#keep(`environment of ${pid}`, `/proc/${pid}/environ`);
      }
    }, 100);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #keep(what: string, path: string): void {
    if (this.seen.has(what)) return;
    try {
      const bytes = readFileSync(path);
      if (bytes.length > 0) this.seen.set(what, bytes);
    } catch {
      // It is gone already.
    }
  }
}
