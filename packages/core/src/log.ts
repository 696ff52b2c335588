/**
 * Logs: one line of JSON each, so that one reader can read the lines of every process. Where a line goes and what time
 * it is come from the caller. A value that is named or looks like a secret never gets into a line, whoever logs it.
 */
export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];
export type LogFields = Record<string, unknown>;

export interface Logger {
  debug(msg: string, fields?: LogFields): void;
  info(msg: string, fields?: LogFields): void;
  warn(msg: string, fields?: LogFields): void;
  error(msg: string, fields?: LogFields): void;
}

export function createLogger(write: (line: string) => void, now: () => number, lowest: LogLevel = "info"): Logger {
  const log =
    (level: LogLevel) =>
    (msg: string, fields: LogFields = {}): void => {
      if (logLevels.indexOf(level) < logLevels.indexOf(lowest)) return;
      const entry = { ...(mask(fields, 0) as LogFields), time: new Date(now()).toISOString(), level, msg };
      const { time, level: _level, msg: _msg, ...rest } = entry;
      // JSON has no raw line break, so no value can fake a second line.
      write(JSON.stringify({ time, level, msg, ...rest }));
    };
  return { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
}

const MASKED = "[masked]";
const MAX_TEXT = 4_000;
const MAX_ITEMS = 100;
const MAX_DEPTH = 6;

/** Names of fields whose value is a secret, whatever it looks like. */
const SECRET_NAME = /token|secret|passw|authorization|cookie|api[-_]?key|session[-_]?id|credential$|private[-_]?key/i;
/** Our own tokens, bearer headers, and user:password in a URL, wherever they stand in a text. */
const SECRET_TEXT =
  /\bex_[a-z]+_[A-Za-z0-9_-]{20,}|\b(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}|(?<=\/\/)[^\s/@:]+:[^\s/@]+(?=@)/gi;

function mask(value: unknown, depth: number): unknown {
  if (typeof value === "string") return maskText(value);
  if (typeof value === "bigint" || typeof value === "symbol" || typeof value === "function")
    return String(value).slice(0, 100);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return "[deep]";
  if (value instanceof Error) return maskError(value, depth);
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => mask(item, depth + 1));
  const members = Object.entries(value).slice(0, MAX_ITEMS);
  return Object.fromEntries(
    members.map(([name, member]) => [
      name,
      SECRET_NAME.test(name) && isText(member) ? MASKED : mask(member, depth + 1),
    ]),
  );
}

/** Numbers and flags under such a name (`tokens: 12`) say nothing secret. */
const isText = (value: unknown): boolean => typeof value === "string" || (typeof value === "object" && value !== null);

function maskText(text: string): string {
  const bounded = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
  return bounded.replace(SECRET_TEXT, MASKED);
}

function maskError(error: Error, depth: number): LogFields {
  const { name, message, stack, cause } = error;
  const code = (error as { code?: unknown }).code;
  return {
    name,
    message: maskText(message),
    ...(typeof code === "string" && { code }),
    ...(stack !== undefined && { stack: maskText(stack) }),
    ...(cause !== undefined && { cause: mask(cause, depth + 1) }),
  };
}
