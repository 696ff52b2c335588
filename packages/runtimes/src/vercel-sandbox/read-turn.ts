/** Turns as they come from a VM: text of a side that is not ours, made into what a session may hand on. */
import { ErrorCode } from "@executor/contracts/error";
import type { GuestLimits, Turn } from "@executor/core/ports/runtime";
import { decodeTurn } from "../in-process/turn-codec.ts";
import type { OutputLine, TurnLine } from "./guest-messages.ts";

/** The prelude cuts messages at 10,000 characters, the engine takes paths of 1,000 bytes. */
const MAX_MESSAGE_LENGTH = 20_000;
const MAX_PATH_LENGTH = 1_000;

/** Throws when the text is not a turn a healthy runner could have sent: it comes from outside, where we enforce nothing. */
export function readTurn(text: string, limits: GuestLimits): Turn {
  const turn = decode(text);
  const refuse = (what: string): never => {
    throw new Error(`it holds ${what}`);
  };
  if (turn.calls.length > limits.calls) refuse("more calls than a guest may make");
  for (const { path, inputJson } of turn.calls)
    if (path.length > MAX_PATH_LENGTH || inputJson.length > limits.callInputBytes) refuse("a call that is too large");
  if (turn.output.reduce((sum, line) => sum + line.text.length, 0) > limits.outputBytes + MAX_MESSAGE_LENGTH)
    refuse("more output than a guest may print");
  const { end } = turn;
  if (end?.kind === "returned") {
    if (end.resultJson.length > limits.resultBytes) refuse("a result that is too large");
    JSON.parse(end.resultJson);
  } else if (end) {
    if (end.message.length > MAX_MESSAGE_LENGTH) refuse("a message that is too long");
    if (end.code !== undefined && !ErrorCode.safeParse(end.code).success) refuse("a code that does not exist");
    if (end.kind === "threw" && end.name.length > MAX_MESSAGE_LENGTH) refuse("a name that is too long");
  }
  return turn;
}

function decode(text: string): Turn {
  const out: (1 | 2)[] = [];
  const texts: string[] = [];
  const lines = text.split("\n");
  const last = JSON.parse(lines.pop() ?? "") as TurnLine;
  for (const line of lines)
    for (const [stream, body] of (JSON.parse(line) as OutputLine).output) {
      out.push(stream);
      texts.push(String(body));
    }
  const { cleared, cpuMs, end } = last;
  const parts = [...last.calls.map((call) => String(call[3])), ...texts];
  if (end?.kind === "returned") parts.push(String(last.result));
  const encoder = new TextEncoder();
  return decodeTurn({
    header: {
      t: "turn",
      s: 0,
      calls: last.calls.map(([id, path, after, , line]) => [id, path, after, line]),
      timers: last.timers,
      cleared,
      out,
      cpuMs,
      totalMs: 0,
      ...(end && { end }),
    },
    blobs: parts.map((part) => encoder.encode(part)),
  });
}
