/** Small catalogs in the styles of other kinds of sources: MCP (verbs and snake case), GraphQL (fields), camelCase alone, other languages. */
import { expect, test } from "bun:test";
import { createSearchIndex, type SearchDoc } from "./search-index.ts";
import { searchSegments } from "./search-segments.ts";
import { smallCatalog } from "./small-catalog.fixture.ts";

const doc = (path: string, description = "", safe = false): SearchDoc => ({ path, description, keywords: "", safe });
const catalogs: Record<string, SearchDoc[]> = {
  disk: [
    doc("read_file", "Read the complete contents of a file.", true),
    doc("write_file", "Create a new file or overwrite an existing one."),
    doc("create_directory", "Create a new directory or ensure that it exists."),
    doc("list_directory", "Get a listing of all files and directories in a path.", true),
    doc("move_file", "Move or rename files and directories."),
    doc("get_file_info", "Retrieve metadata about a file or directory.", true),
  ],
  tracker: [
    doc("query.issues", "All issues.", true),
    doc("query.issue", "One specific issue.", true),
    doc("query.viewer", "The currently authenticated user.", true),
    doc("mutation.issueCreate", "Creates a new issue."),
    doc("mutation.issueArchive", "Archives an issue."),
    doc("mutation.projectDelete", "Deletes (trashes) a project."),
  ],
  bare: [doc("getUserById", "", true), doc("createUser"), doc("listAllOrders", "", true), doc("cancelOrder")],
  laden: [
    doc("kunden.liste", "Alle Kunden auflisten", true),
    doc("kunden.anlegen", "Einen Kunden anlegen"),
    doc("produits.creer", "Créer un produit"),
  ],
  ...Object.fromEntries(smallCatalog.map(({ namespace, docs }) => [namespace, docs])),
};
const segments = Object.entries(catalogs).map(([namespace, docs]) => ({ namespace, index: createSearchIndex(docs) }));
const only = (...names: string[]) => segments.filter(({ namespace }) => names.includes(namespace));

function first(query: string, among: typeof segments): string {
  const [found] = searchSegments(among, query, { limit: 1, accept: () => true }).results;
  return found ? `${among[found.segment]?.namespace}.${among[found.segment]?.index.paths[found.doc]}` : "";
}

const small = only("disk", "tracker", "bare", "laden");
for (const [query, path] of Object.entries({
  "rename a file": "disk.move_file",
  "make a folder": "disk.create_directory",
  "whats in this dir": "disk.list_directory",
  "file metadata": "disk.get_file_info",
  "list issues": "tracker.query.issues",
  "new issue": "tracker.mutation.issueCreate",
  "archive issue": "tracker.mutation.issueArchive",
  "who am i": "tracker.query.viewer",
  "user by id": "bare.getUserById",
  orders: "bare.listAllOrders",
  "cancel an order": "bare.cancelOrder",
  "kunde anlegen": "laden.kunden.anlegen",
  "creer un produit": "laden.produits.creer",
}))
  test(`"${query}" finds ${path} first`, () => expect(first(query, small)).toBe(path));

const services = only("forge", "till", "parley", "fleet");
for (const [rule, query, path] of [
  ["a state is changed by an update", "close an issue", "forge.issues.update"],
  ["who is added is invited", "add someone to an organization", "forge.orgs.create_invitation"],
  ["several things alone are a list", "refunds", "till.refunds.get_refunds"],
  ["what stands beside the object counts less", "create a milestone for the release", "forge.milestones.create"],
  ["a question reads", "what labels did we create", "forge.labels.list_for_repo"],
  ["a named source goes first", "how do I make a customer in till", "till.customers.post_customers"],
  ["a verb nobody knows changes what is there", "frobnicate a milestone", "forge.milestones.update"],
] as const)
  test(`${rule}: "${query}"`, () => expect(first(query, services)).toBe(path));
