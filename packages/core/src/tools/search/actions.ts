/**
 * The five things most tools do, and the words people and documents have for them. A query that says `remove` and a tool that
 * says `delete` mean the same; a query that says `get` and one that deletes do not. Words with a narrower meaning (merge,
 * cancel, invite) are no actions: they are searched for like any other word.
 */

export const Action = { list: 1, get: 2, create: 4, update: 8, delete: 16 } as const;
export type ActionMask = number;

export const reads = Action.list | Action.get;
export const writes = Action.create | Action.update | Action.delete;

export interface ActionWord {
  action: ActionMask;
  /** How surely the word says it: 1 for the plain verb, less for those that have other meanings. */
  sure: number;
}

const words = new Map<string, ActionWord>();
const say = (action: ActionMask, sure: number, ...verbs: string[]): void => {
  for (const verb of verbs) words.set(verb, { action, sure });
};
say(Action.list, 1, "list", "enumerate");
say(Action.list, 0.7, "browse");
say(Action.get, 1, "get", "read", "retrieve", "fetch", "view", "describe", "inspect", "return");
say(Action.get, 0.8, "show", "display", "see", "load", "obtain");
say(Action.get, 0.6, "check", "tell", "verify", "know");
say(reads, 0.6, "find", "search", "query", "lookup");
say(Action.create, 0.8, "new", "post");
say(Action.create, 0.7, "generate", "register", "provision", "draft", "compose", "spawn");
const sayAll = (action: ActionMask, sure: number, verbs: string): void => say(action, sure, ...verbs.split(/\s+/));
sayAll(
  Action.create,
  0.5,
  `open start submit raise file write issue upload publish save give grant assign attach bind invite import schedule
  send share enroll log record report launch run trigger dispatch deploy install subscribe join follow star pin react reply
  respond request charge take clone fork copy duplicate tag annotate onboard sell order book message comment dm email mail text ping`,
);
say(Action.update, 1, "update", "edit", "modify", "change", "patch", "alter", "replace", "amend");
say(Action.update, 0.8, "set", "adjust", "overwrite", "fix", "correct", "tweak");
say(Action.update, 0.7, "rename", "configure", "increase", "decrease", "extend", "upgrade", "downgrade", "resize");
sayAll(
  Action.update,
  0.4,
  `close reopen archive unarchive move mark put toggle scale reschedule switch enable disable activate deactivate suspend
  unsuspend pause resume cordon uncordon drain lock unlock mute unmute restart reset rotate protect restore convert hide
  dismiss finalize capture void transfer promote demote turn`,
);
sayAll(Action.create | Action.update, 0.4, "approve accept decline reject confirm answer");
say(Action.delete, 1, "delete", "remove", "destroy", "erase");
say(Action.delete, 0.7, "drop", "purge", "unset", "clear", "revoke", "discard", "uninstall", "detach");
sayAll(
  Action.delete,
  0.4,
  "cancel kick kill evict ban leave unpin unstar unfollow unsubscribe unlink disconnect unbind stop terminate end",
);
say(Action.create, 1, "create", "add", "make", "insert");

/** They change something, whatever it is: who says one of them first does not want to read. */
const doing: ReadonlySet<string> = new Set(
  `accept activate add approve archive assign attach ban block cancel capture charge clear clone close confirm copy deactivate
  decline detach disable dismiss dispatch edit enable evict execute finalize follow fork grant import install invite join kick
  kill leave lock mark merge move mute notify pay pin protect publish react refund register reject rename reopen request rerun
  reset restart restore resume retry revoke rollback rotate run scale schedule send share star start stop submit subscribe
  suspend pause cordon uncordon drain mute unmute withdraw respond reply take give save scale fix correct increase
  decrease upgrade downgrade resize snooze open sync terminate transfer trigger unarchive unassign unblock unfollow uninstall unlock unpin unstar unsubscribe upload
  void`.split(/\s+/),
);
export const isDoing = (word: string): boolean => doing.has(word);

export function actionOf(word: string): ActionWord | null {
  const known = words.get(word);
  if (known) return known;
  return undone(word) === null ? null : { action: Action.delete, sure: 0.5 };
}

/** What an `unassign` takes back; null for words that only begin like one. */
export function undone(word: string): string | null {
  const verb = word.startsWith("un") ? word.slice(2) : "";
  return verb.length >= 3 && (doing.has(verb) || words.has(verb)) ? verb : null;
}

/** Names made from an HTTP method say less than the sentence beside them. */
export const isMethodWord = (word: string): boolean =>
  word === "get" || word === "post" || word === "put" || word === "patch";

/** 1: the same. Less: not quite what was asked, but of use. 0: something else. */
export function agreement(asked: ActionMask, offered: ActionMask): number {
  if ((asked & offered) !== 0) return 1;
  if (asked === 0 || offered === 0) return 0.5;
  if ((asked & reads) !== 0 && (offered & reads) !== 0) return 0.5;
  if ((asked & (Action.create | Action.update)) !== 0 && (offered & (Action.create | Action.update)) !== 0) return 0.25;
  return 0;
}
