import { expect, test } from "bun:test";
import { createSearchIndex } from "./search-index.ts";
import { searchSegments } from "./search-segments.ts";
import { smallCatalog } from "./small-catalog.fixture.ts";

const segments = smallCatalog.map(({ namespace, docs }) => ({ namespace, index: createSearchIndex(docs) }));
const pathOf = ({ segment, doc }: { segment: number; doc: number }): string =>
  `${segments[segment]?.namespace}.${segments[segment]?.index.paths[doc]}`;
const find = (query: string, limit = 5): string[] =>
  searchSegments(segments, query, { limit, accept: () => true }).results.map(pathOf);

const wanted: Record<string, string> = {
  "create a customer": "till.customers.post_customers",
  "new customer": "till.customers.post_customers",
  "merge a pull request": "forge.pulls.merge",
  "merge pr": "forge.pulls.merge",
  "invite a user to an organization": "forge.orgs.create_invitation",
  "list issues": "forge.issues.list_for_repo",
  "remove a label": "forge.labels.delete",
  "edit an issue": "forge.issues.update",
  "show all milestones": "forge.milestones.list_for_repo",
  "trigger a workflow": "forge.actions.create_workflow_dispatch",
  "my repos": "forge.repos.list_for_authenticated_user",
  "make a refund": "till.refunds.post_refunds",
  "till invoices": "till.invoices.get_invoices",
  "update customer": "till.customers.post_customers_customer",
  "get a subscription": "till.subscriptions.get_subscriptions_subscription",
  "post a message to a channel": "parley.chat.post_message",
  "read channel history": "parley.conversations.history",
  "kick someone from a channel": "parley.conversations.kick",
  "list pods": "fleet.core_v1.list_core_v1_namespaced_pod",
  "get a pod": "fleet.core_v1.read_core_v1_namespaced_pod",
  "delete a pod": "fleet.core_v1.delete_core_v1_namespaced_pod",
  "create config map": "fleet.core_v1.create_core_v1_namespaced_config_map",
  "create configmap": "fleet.core_v1.create_core_v1_namespaced_config_map",
  "creat a custommer": "till.customers.post_customers",
};

for (const [query, path] of Object.entries(wanted)) {
  test(`"${query}" finds ${path} first`, () => expect(find(query)[0]).toBe(path));
}

test("a path finds itself, with and without its namespace", () => {
  expect(find("till.customers.post_customers_customer_tax_ids")[0]).toBe(
    "till.customers.post_customers_customer_tax_ids",
  );
  expect(find("chat.update")[0]).toBe("parley.chat.update");
});

test("what is not accepted is left out, and asked for only as far as needed", () => {
  const asked: number[] = [];
  const { results, total } = searchSegments(segments, "create a customer", {
    limit: 1,
    accept: (_segment, doc) => asked.push(doc) > 1,
  });
  expect(results).toHaveLength(1);
  expect(asked).toHaveLength(3);
  expect(total).toBeGreaterThan(1);
});

test("the first leads only when it is clearly ahead", () => {
  const leads = (query: string): boolean => searchSegments(segments, query, { limit: 5, accept: () => true }).leads;
  expect(leads("merge a pull request")).toBe(true);
  expect(leads("delete")).toBe(false);
  expect(leads("merge a pull request in the qqqqqq")).toBe(false);
  expect(leads("qqqqqq")).toBe(false);
});

test("what calls itself outdated stands behind its equal", () => {
  const index = createSearchIndex([
    { path: "a.lock_door", description: "Legacy: locks a door.", keywords: "", safe: false },
    { path: "b.lock_door", description: "Locks a door.", keywords: "", safe: false },
  ]);
  const { results } = searchSegments([{ namespace: "x", index }], "lock door", { limit: 2, accept: () => true });
  expect(results.map(({ doc }) => doc)).toEqual([1, 0]);
});

test("empty, strange and huge queries are answered quickly and never throw", () => {
  const from = performance.now();
  for (const query of [
    "",
    " ",
    "a",
    "the of",
    "((((.*)+)+)$",
    "\\",
    "\u0000",
    "__proto__",
    "constructor",
    "💥",
    "創建客戶",
    "kündè",
  ])
    expect(Array.isArray(find(query))).toBe(true);
  for (const unit of ["x", "a ", "create customer ", "(a+)+ ", "é", "創", "'"]) find(unit.repeat(10_000));
  expect(performance.now() - from).toBeLessThan(1_000);
  expect(find("zzzzzz")).toEqual([]);
});

test("accents and other scripts are found", () => {
  const index = createSearchIndex([
    { path: "kunden.anlegen", description: "Legt einen Kündigungsgrund an.", keywords: "", safe: false },
    { path: "a.b", description: "顧客を作成する", keywords: "", safe: false },
  ]);
  const first = (query: string): number | undefined =>
    searchSegments([{ namespace: "x", index }], query, { limit: 1, accept: () => true }).results[0]?.doc;
  expect(first("kundigungsgrund")).toBe(0);
  expect(first("顧客")).toBe(1);
});

test("the same query gives the same answer, whatever was asked before", () => {
  const before = find("update a thing of a channel", 20);
  for (const query of Object.keys(wanted)) find(query);
  expect(find("update a thing of a channel", 20)).toEqual(before);
});
