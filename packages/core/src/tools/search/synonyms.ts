/**
 * Words that stand for each other in the world of APIs, and words that say nothing. A synonym is worth less than the word
 * itself, so it decides only where the word itself is not found. Verbs of the five actions are in actions.ts.
 */

/** Near in meaning both ways. The weight says how near. */
const groups: readonly (readonly [number, ...string[]])[] = [
  [0.8, "user", "member", "person"],
  [0.6, "user", "account"],
  [0.5, "person", "teammate", "colleague", "collaborator"],
  [0.75, "member", "collaborator", "teammate"],
  [0.8, "comment", "reply", "note"],
  [0.75, "message", "chat", "dm"],
  [0.8, "channel", "conversation", "room"],
  [0.7, "dm", "im", "conversation"],
  [0.8, "charge", "payment"],
  [0.6, "pay", "charge", "payment"],
  [0.6, "plan", "price"],
  [0.6, "customer", "client", "buyer"],
  [0.7, "coupon", "discount"],
  [0.6, "payout", "withdrawal"],
  [0.7, "dispute", "chargeback"],
  [0.8, "card", "creditcard"],
  [0.7, "picture", "image", "photo", "avatar"],
  [0.7, "file", "document"],
  [0.6, "content", "file"],
  [0.7, "folder", "directory"],
  [0.8, "invite", "invitation"],
  [0.7, "send", "post", "publish", "deliver"],
  [0.7, "write", "post"],
  [0.8, "start", "run", "trigger", "launch", "begin", "kick"],
  [0.8, "trigger", "dispatch", "run", "invoke", "execute"],
  [0.8, "rerun", "retry"],
  [0.8, "stop", "cancel", "abort", "halt", "terminate", "kill", "end"],
  [0.8, "enable", "activate", "allow"],
  [0.8, "disable", "deactivate", "forbid"],
  [0.7, "block", "ban"],
  [0.7, "kick", "remove", "evict", "expel"],
  [0.7, "search", "find", "lookup", "query"],
  [0.7, "upload", "attach"],
  [0.8, "download", "export"],
  [0.6, "log", "output", "history"],
  [0.7, "message", "history"],
  [0.6, "webhook", "hook"],
  [0.6, "action", "workflow", "pipeline", "ci"],
  [0.7, "build", "run", "job"],
  [0.7, "job", "task"],
  [0.7, "ticket", "issue", "bug"],
  [0.7, "label", "tag"],
  [0.6, "branch", "ref", "reference"],
  [0.7, "topic", "subject"],
  [0.7, "status", "state"],
  [0.6, "price", "cost", "rate", "amount"],
  [0.7, "permission", "access", "right", "role"],
  [0.6, "secret", "credential"],
  [0.7, "token", "key"],
  [0.7, "machine", "node", "server", "host"],
  [0.7, "environment", "stage"],
  [0.7, "emoji", "emoticon"],
  [0.7, "reaction", "emoji"],
  [0.7, "react", "reaction"],
  [0.7, "reminder", "alarm"],
  [0.7, "calendar", "schedule"],
  [0.7, "mail", "email"],
  [0.7, "phone", "telephone"],
  [0.7, "bookmark", "star", "favorite", "favourite"],
  [0.7, "like", "star", "reaction"],
  [0.7, "watch", "subscribe", "follow"],
  [0.7, "subscribe", "subscription"],
  [0.7, "unsubscribe", "cancel"],
  [0.7, "group", "team"],
  [0.6, "workspace", "team"],
  [0.7, "join", "enter"],
  [0.7, "leave", "exit", "quit"],
  [0.7, "copy", "clone", "duplicate", "fork"],
  [0.7, "move", "transfer"],
  [0.7, "rename", "name"],
  [0.7, "void", "cancel"],
  [0.7, "refund", "reverse", "reimburse"],
  [0.7, "balance", "fund", "money"],
  [0.7, "diff", "compare", "difference"],
  [0.7, "current", "authenticated", "me", "self"],
  [0.7, "readme", "documentation"],
  [0.7, "language", "locale"],
  [0.7, "location", "place", "address"],
  [0.7, "order", "purchase"],
  [0.7, "item", "entry", "element"],
  [0.7, "error", "failure"],
  [0.6, "register", "registration", "signup"],
  [0.7, "presence", "online", "away"],
  [0.7, "pin", "stick"],
  [0.7, "volume", "disk", "storage"],
  [0.6, "schedule", "delay", "later"],
  [0.7, "cron", "schedule"],
  [0.7, "assign", "assignee"],
  [0.6, "review", "approve", "approval"],
  [0.7, "author", "writer"],
  [0.6, "contributor", "committer"],
  [0.6, "archive", "zip", "tarball"],
  [0.6, "alert", "warning"],
  [0.6, "usage", "consumption"],
  [0.6, "quota", "limit"],
  [0.6, "version", "revision"],
  [0.6, "restart", "reboot"],
  [0.6, "website", "site", "page"],
];

const near = new Map<string, Map<string, number>>();
for (const [weight, ...members] of groups) {
  for (const word of members) {
    const known = near.get(word) ?? new Map<string, number>();
    near.set(word, known);
    for (const other of members) {
      if (other !== word) known.set(other, Math.max(weight, known.get(other) ?? 0));
    }
  }
}
const none: ReadonlyMap<string, number> = new Map();

export const synonymsOf = (word: string): ReadonlyMap<string, number> => near.get(word) ?? none;

/** What several words together mean, in words the index is likely to know. Singular, as the index has them. */
export const phrases: readonly (readonly [readonly string[], readonly string[]])[] = [
  [["pr"], ["pull", "request"]],
  [
    ["merge", "request"],
    ["pull", "request"],
  ],
  [["direct", "message"], ["dm"]],
  [["turn", "on"], ["enable"]],
  [["switch", "on"], ["enable"]],
  [["turn", "off"], ["disable"]],
  [["switch", "off"], ["disable"]],
  [["get", "rid", "of"], ["delete"]],
  [["take", "out"], ["remove"]],
  [["kick", "off"], ["trigger"]],
  [["fire", "off"], ["trigger"]],
  [["look", "up"], ["lookup"]],
  [["look", "for"], ["search"]],
  [["set", "up"], ["create"]],
  [["sign", "up"], ["register"]],
  [["spin", "up"], ["create"]],
  [["bring", "up"], ["create"]],
  [["tear", "down"], ["delete"]],
  [["give", "back"], ["refund"]],
  [["pay", "back"], ["refund"]],
  [["money", "back"], ["refund"]],
  [["get", "all"], ["list"]],
  [["show", "all"], ["list"]],
  [["fetch", "all"], ["list"]],
  [["read", "all"], ["list"]],
  [["find", "all"], ["list"]],
  [["what", "are"], ["list"]],
  [["which"], ["list"]],
  [
    ["who", "am", "i"],
    ["get", "authenticated", "user"],
  ],
  [["logged", "in"], ["authenticated"]],
  [["signed", "in"], ["authenticated"]],
  [["how", "many"], ["list"]],
  [["credit", "card"], ["card"]],
  [["bank", "card"], ["card"]],
  [["set", "of"], []],
  [["bunch", "of"], []],
  [["list", "of"], ["list"]],
];

/** They join words and ask politely. Not in here: all and my, which say what is wanted. */
export const stopWords: ReadonlySet<string> = new Set(
  `a an the of to for in on at by with from into onto and or as is are be was were it its this that these those i we you he she
  they me us our your their his her him them want need would like please can could should how do does did to will shall let s t
  some any one each every there here what when where if then than so just about via using use given specific certain particular
  existing currently available up out off over under within tool api endpoint operation thing stuff way help me somebody someone
  something specified named called whose who have which also now again am id d ll ve re don`.split(/\s+/),
);

/** Words a description spends without saying what is special about its tool. */
export const fillerWords: ReadonlySet<string> = new Set(
  `object resource specified given single existing new specific information detail namespaced core kind based their using
  v1 v2 v3 beta v1beta1 v2beta1 v1alpha1 v2beta2 v1beta2 all your you our request endpoint api`.split(/\s+/),
);
