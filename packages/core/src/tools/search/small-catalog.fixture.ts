/** About 150 tools of four invented services in four styles of naming: enough for the ranking to go wrong, small enough to run always. */
import type { SearchDoc } from "./search-index.ts";

export const smallCatalog: readonly { namespace: string; docs: SearchDoc[] }[] = [
  { namespace: "forge", docs: [...crud("forge"), ...parse(forgeLines())] },
  { namespace: "till", docs: tillDocs() },
  { namespace: "parley", docs: parse(parleyLines()) },
  { namespace: "fleet", docs: fleetDocs() },
];

/** tag.name | safe or not | sentence */
function parse(lines: string): SearchDoc[] {
  return lines
    .trim()
    .split("\n")
    .map((line) => {
      const [path = "", kind = "", description = ""] = line.split("|").map((part) => part.trim());
      return { path, description, keywords: path.replaceAll(/[._]/g, " "), safe: kind === "r" };
    });
}

/** Verbs in front, tags as places. */
function crud(_style: "forge"): SearchDoc[] {
  const things = ["issue", "milestone", "release", "label", "webhook", "gist", "branch", "deployment"];
  return things.flatMap((thing) =>
    parse(`
${thing}s.list_for_repo | r | List the ${thing}s of a repository.
${thing}s.get | r | Get one ${thing} of a repository.
${thing}s.create | w | Create a ${thing}.
${thing}s.update | w | Update a ${thing}.
${thing}s.delete | w | Delete a ${thing}.`),
  );
}

function forgeLines(): string {
  return `
pulls.list | r | List pull requests.
pulls.get | r | Get a pull request.
pulls.create | w | Create a pull request.
pulls.update | w | Update a pull request.
pulls.merge | w | Merge a pull request into its base branch.
pulls.check_if_merged | r | Tell whether a pull request was merged.
pulls.create_review | w | Create a review for a pull request.
pulls.request_reviewers | w | Request reviewers for a pull request.
orgs.create_invitation | w | Create an organization invitation. People are invited by their address or number.
orgs.list_pending_invitations | r | List invitations to an organization that nobody answered.
orgs.cancel_invitation | w | Cancel an organization invitation.
orgs.list_members | r | List members of an organization.
orgs.remove_member | w | Remove a member from an organization.
orgs.get | r | Get an organization.
repos.create_fork | w | Create a fork of a repository.
repos.list_for_authenticated_user | r | List repositories of the signed-in user.
repos.get_readme | r | Get the readme of a repository.
issues.add_labels | w | Add labels to an issue.
issues.create_comment | w | Create a comment on an issue.
issues.list_comments | r | List comments on an issue.
actions.create_workflow_dispatch | w | Create a workflow dispatch event, which runs a workflow by hand.
actions.list_workflow_runs | r | List runs of a workflow.
actions.cancel_workflow_run | w | Cancel a workflow run.
search.code | r | Search code.
activity.star_repo | w | Star a repository.`;
}

/** HTTP methods for verbs; only the sentence says what happens. */
function tillDocs(): SearchDoc[] {
  const things = ["customer", "refund", "invoice", "subscription", "product", "coupon"];
  const plain = things.flatMap((thing) =>
    parse(`
${thing}s.get_${thing}s | r | Returns a list of your ${thing}s.
${thing}s.get_${thing}s_${thing} | r | Retrieves a ${thing} object.
${thing}s.post_${thing}s | w | Creates a new ${thing} object.
${thing}s.post_${thing}s_${thing} | w | Updates the specified ${thing}.
${thing}s.delete_${thing}s_${thing} | w | Deletes a ${thing} for good.`),
  );
  return [
    ...plain,
    ...parse(`
customers.post_customers_customer_balance_transactions | w | Creates a transaction that changes the customer's credit balance.
customers.get_customers_customer_balance_transactions | r | Returns a list of transactions on the customer's balance.
customers.post_customers_customer_tax_ids | w | Creates a new tax number for a customer.
invoices.post_invoices_invoice_send | w | Sends an invoice to the customer by mail.
invoices.post_invoices_invoice_finalize | w | Finalizes a draft invoice.
invoices.post_invoices_invoice_void | w | Marks a finalized invoice as void.
charges.post_charges_charge_refund | w | Legacy: refunds a charge. Create a refund instead.
balance.get_balance | r | Retrieves the current account balance.`),
  ];
}

function parleyLines(): string {
  return `
chat.post_message | w | Sends a message to a channel.
chat.update | w | Updates a message.
chat.delete | w | Deletes a message.
chat.schedule_message | w | Schedules a message to be sent to a channel later.
conversations.list | r | Lists all channels of a team.
conversations.create | w | Starts a public or private channel.
conversations.invite | w | Invites users to a channel.
conversations.kick | w | Removes a user from a channel.
conversations.archive | w | Archives a channel.
conversations.history | r | Fetches the messages of a channel.
conversations.members | r | Lists the members of a channel.
users.list | r | Lists all users of a team.
users.lookup_by_email | r | Finds a user by an email address.
reactions.add | w | Adds a reaction to a message.
pins.add | w | Pins a message to a channel.
files.upload | w | Uploads a file.
usergroups.list | r | Lists all user groups of a team.`;
}

/** Long generated names with a version in the middle. */
function fleetDocs(): SearchDoc[] {
  const kinds = ["pod", "config_map", "service", "secret", "stateful_set", "job"];
  return kinds.flatMap((kind) => {
    const word = kind.replaceAll("_", "");
    const docs = parse(`
core_v1.list_core_v1_namespaced_${kind} | r | list objects of kind ${word}
core_v1.list_core_v1_${kind}_for_all_namespaces | r | list objects of kind ${word}
core_v1.read_core_v1_namespaced_${kind} | r | read the specified ${word}
core_v1.create_core_v1_namespaced_${kind} | w | create a ${word}
core_v1.replace_core_v1_namespaced_${kind} | w | replace the specified ${word}
core_v1.delete_core_v1_namespaced_${kind} | w | delete a ${word}
core_v1.delete_core_v1_collection_namespaced_${kind} | w | delete collection of ${word}
core_v1.watch_core_v1_namespaced_${kind}_list | r | watch changes to a list of ${word}. deprecated: use list`);
    return docs.map((doc) => ({ ...doc, keywords: `${doc.keywords} namespaces ${word}s name` }));
  });
}
