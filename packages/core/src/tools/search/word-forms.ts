/**
 * Two depths of sameness between English words. `singular` is what the index is made of: pods and pod are one word.
 * `rootOf` joins invite, invited and invitation: words that are near, but worth less than the word itself.
 * Both need only be consistent, not beautiful: roots are never shown.
 */

/** One word for an abbreviation and what it stands for; only where nobody means anything else by it. */
const fullWords = new Map(
  Object.entries({
    repo: "repository",
    org: "organization",
    organisation: "organization",
    msg: "message",
    env: "environment",
    svc: "service",
    ns: "namespace",
    k8s: "kubernetes",
    gh: "github",
    info: "information",
    config: "configuration",
    conf: "configuration",
    deploy: "deployment",
    crd: "customresourcedefinition",
    pvc: "persistentvolumeclaim",
    pv: "persistentvolume",
    hpa: "horizontalpodautoscaler",
    cm: "configmap",
    sa: "serviceaccount",
    auth: "authentication",
    authn: "authentication",
    authz: "authorization",
    dir: "directory",
    param: "parameter",
    prs: "pr",
    dms: "dm",
    kubectl: "kubernetes",
    kube: "kubernetes",
    ds: "daemonset",
    sts: "statefulset",
    rs: "replicaset",
    ing: "ingress",
    netpol: "networkpolicy",
    csr: "certificatesigningrequest",
    pdb: "poddisruptionbudget",
    acct: "account",
    txn: "transaction",
    tx: "transaction",
    pic: "picture",
    pfp: "avatar",
    img: "image",
    usr: "user",
    grp: "group",
    proj: "project",
    desc: "description",
    addr: "address",
    qty: "quantity",
    amt: "amount",
    pmt: "payment",
    cust: "customer",
    chan: "channel",
    convo: "conversation",
    notif: "notification",
    perm: "permission",
    db: "database",
    cfg: "configuration",
    doc: "document",
    cert: "certificate",
    vol: "volume",
    pkg: "package",
    wf: "workflow",
    subs: "subscription",
    admin: "administrator",
    app: "application",
    ref: "reference",
    licence: "license",
    catalogue: "catalog",
    dialogue: "dialog",
    programme: "program",
    centre: "center",
    grey: "gray",
    cheque: "check",
    favourite: "favorite",
    colour: "color",
    behaviour: "behavior",
    neighbour: "neighbor",
    labelled: "labeled",
    cancelled: "canceled",
  }),
);
const irregular = new Map(
  Object.entries({
    people: "person",
    children: "child",
    indices: "index",
    caches: "cache",
    aliases: "alias",
    cookies: "cookie",
    movies: "movie",
    series: "series",
    news: "news",
    data: "data",
    does: "do",
    has: "have",
    gists: "gist",
    lenses: "lens",
    statuses: "status",
    syntheses: "synthesis",
    analyses: "analysis",
    sent: "send",
    made: "make",
    ran: "run",
    built: "build",
    found: "find",
    got: "get",
    paid: "pay",
    chose: "choose",
    left: "leave",
    wrote: "write",
    gave: "give",
    bought: "buy",
    sold: "sell",
    begun: "begin",
    began: "begin",
    subs: "subscription",
    shown: "show",
    written: "write",
  }),
);

/** The word the index knows it by. */
export function singular(word: string): string {
  const base = irregular.get(word) ?? stripPlural(word);
  return fullWords.get(base) ?? base;
}

/** True for the plural of something. */
export const isPlural = (word: string): boolean =>
  word.length > 3 &&
  word.endsWith("s") &&
  (irregular.has(word) ? irregular.get(word) !== word : stripPlural(word) !== word);

function stripPlural(word: string): string {
  const { length } = word;
  if (length <= 3 || word.charCodeAt(length - 1) !== 115) return length === 3 && word === "prs" ? "pr" : word;
  if (word.endsWith("ies")) return length > 4 ? `${word.slice(0, -3)}y` : word.slice(0, -1);
  if (/(?:ss|us|is)$/.test(word)) return word;
  if (/(?:sse|xe|che|she|zze|buse|tuse)s$/.test(word)) return word.slice(0, -2);
  return word.slice(0, -1);
}

/** What is left without endings. Shared by words of one family; may be the word itself. */
export function rootOf(word: string): string {
  if (word.length < 4 || word.charCodeAt(0) > 127) return word;
  for (const [ending, kept, least] of endings) {
    if (word.endsWith(ending) && word.length - ending.length >= least)
      return close(word.slice(0, word.length - ending.length) + kept);
  }
  return close(word);
}

/** Ending, what takes its place, and how many letters must be left. Longest first. */
const endings: readonly (readonly [string, string, number])[] = [
  ["ization", "iz", 3],
  ["isation", "iz", 3],
  ["ication", "i", 3],
  ["ation", "", 4],
  ["ition", "", 4],
  ["ment", "", 3],
  ["ing", "", 3],
  ["ion", "", 4],
  ["ied", "i", 2],
  ["ise", "iz", 4],
  ["al", "", 5],
  ["ed", "", 3],
];

function close(stem: string): string {
  let root = stem.endsWith("e") && stem.length > 3 ? stem.slice(0, -1) : stem;
  if (root.endsWith("y") && root.length > 3) root = `${root.slice(0, -1)}i`;
  if (root.endsWith("at") && root.length >= 6) root = root.slice(0, -2);
  const last = root.charCodeAt(root.length - 1);
  const isDouble = last === root.charCodeAt(root.length - 2) && !"lsz".includes(root.slice(-1));
  return isDouble && root.length > 3 ? root.slice(0, -1) : root;
}
