/**
 * What people ask for, in many voices, and the operations that are right: by operationId, several where they do the same.
 * The tuning half may be looked at while the ranking is worked on; the held-out half only says how good it is.
 */
export interface IntentQuery {
  query: string;
  /** namespace:operationId, any of which is right. */
  right: string[];
}

const parse = (text: string): IntentQuery[] =>
  text
    .trim()
    .split("\n")
    .map((line) => {
      const [query = "", right = ""] = line.split("=>").map((part) => part.trim());
      return { query, right: right.split(/\s+/) };
    });

export const tuningQueries = parse(`
create a customer => stripe:PostCustomers
merge a pull request => github:pulls/merge
invite a user to an organization => github:orgs/create-invitation
list issues of a repository => github:issues/list-for-repo
open a new issue on github => github:issues/create
add a comment to an issue => github:issues/create-comment
delete a branch => github:git/delete-ref
star a repo => github:activity/star-repo-for-authenticated-user
show my repositories => github:repos/list-for-authenticated-user
get the readme => github:repos/get-readme
search code => github:search/code
fork repository => github:repos/create-fork
trigger a workflow => github:actions/create-workflow-dispatch
re-run a failed workflow => github:actions/re-run-workflow-failed-jobs github:actions/re-run-workflow
create a release => github:repos/create-release
list releases => github:repos/list-releases
add labels to an issue => github:issues/add-labels
request reviewers for a pr => github:pulls/request-reviewers
compare two commits => github:repos/compare-commits github:repos/compare-commits-with-basehead
who am i on github => github:users/get-authenticated
refund a payment => stripe:PostRefunds stripe:PostChargesChargeRefund stripe:PostChargesChargeRefunds
stripe refund a charge => stripe:PostRefunds stripe:PostChargesChargeRefund stripe:PostChargesChargeRefunds
list all invoices => stripe:GetInvoices
cancel subscription => stripe:DeleteSubscriptionsSubscriptionExposedId stripe:DeleteCustomersCustomerSubscriptionsSubscriptionExposedId
create payment intent => stripe:PostPaymentIntents
retrieve the balance => stripe:GetBalance
update a customer => stripe:PostCustomersCustomer
remove customer => stripe:DeleteCustomersCustomer
send an invoice => stripe:PostInvoicesInvoiceSend
finalize invoice => stripe:PostInvoicesInvoiceFinalize
create checkout session => stripe:PostCheckoutSessions
make a new product in stripe => stripe:PostProducts
list customers => stripe:GetCustomers
create a coupon => stripe:PostCoupons
send a message to a channel => slack:chat_postMessage
post a slack message => slack:chat_postMessage
list channels => slack:conversations_list
create a channel => slack:conversations_create
invite users to a channel => slack:conversations_invite
upload a file to slack => slack:files_upload
list slack users => slack:users_list
add an emoji reaction to a message => slack:reactions_add
set channel topic => slack:conversations_setTopic
schedule a message => slack:chat_scheduleMessage
look up a user by email => slack:users_lookupByEmail
read channel history => slack:conversations_history
get a pod => kubernetes:readCoreV1NamespacedPod
list pods => kubernetes:listCoreV1NamespacedPod kubernetes:listCoreV1PodForAllNamespaces
list pods in a namespace => kubernetes:listCoreV1NamespacedPod
delete a pod => kubernetes:deleteCoreV1NamespacedPod
create a deployment in kubernetes => kubernetes:createAppsV1NamespacedDeployment
scale a deployment => kubernetes:patchAppsV1NamespacedDeploymentScale kubernetes:replaceAppsV1NamespacedDeploymentScale
get pod logs => kubernetes:readCoreV1NamespacedPodLog
create configmap => kubernetes:createCoreV1NamespacedConfigMap
list nodes => kubernetes:listCoreV1Node
list k8s namespaces => kubernetes:listCoreV1Namespace
`);

export const heldOutQueries = parse(`
close a pull request => github:pulls/update
approve a pull request => github:pulls/create-review
list pull requests => github:pulls/list
create pull reqest => github:pulls/create
fetch the contents of a file in a repo => github:repos/get-content
create or update a file => github:repos/create-or-update-file-contents
list branches => github:repos/list-branches
protect a branch => github:repos/update-branch-protection
remove a collaborator from a repository => github:repos/remove-collaborator
add collaborator to repo => github:repos/add-collaborator
list org members => github:orgs/list-members
create a gist => github:gists/create
assign someone to an issue => github:issues/add-assignees
list workflow runs for a repo => github:actions/list-workflow-runs-for-repo
cancel a workflow run => github:actions/cancel-workflow-run
delete a repository => github:repos/delete
create a webhook for a repository => github:repos/create-webhook
list commits => github:repos/list-commits
lock an issue conversation => github:issues/lock
follow a user => github:users/follow
github search repositories => github:search/repos
download artifact => github:actions/download-artifact
create a milestone => github:issues/create-milestone
rename a branch => github:repos/rename-branch
list stargazers => github:activity/list-stargazers-for-repo
get rate limit => github:rate-limit/get
mark notifications as read => github:activity/mark-notifications-as-read
new subscription => stripe:PostSubscriptions stripe:PostCustomersCustomerSubscriptions
list charges => stripe:GetCharges
capture a payment intent => stripe:PostPaymentIntentsIntentCapture
void an invoice => stripe:PostInvoicesInvoiceVoid
pay an invoice => stripe:PostInvoicesInvoicePay
find customers by email => stripe:GetCustomersSearch stripe:GetCustomers
get a customer's payment methods => stripe:GetCustomersCustomerPaymentMethods stripe:GetPaymentMethods
attach a payment method to a customer => stripe:PostPaymentMethodsPaymentMethodAttach
how do i see stripe disputes => stripe:GetDisputes
create price => stripe:PostPrices
create a payout => stripe:PostPayouts
create promotion code => stripe:PostPromotionCodes
delete coupon => stripe:DeleteCouponsCoupon
list stripe events => stripe:GetEvents
kick a user from a channel => slack:conversations_kick
archive a channel => slack:conversations_archive
delete a slack message => slack:chat_delete
edit a message => slack:chat_update
open a direct message => slack:conversations_open
pin a message => slack:pins_add
get user profile => slack:users_profile_get
add a reminder => slack:reminders_add
join a channel => slack:conversations_join
search messages => slack:search_messages
members of a channel => slack:conversations_members
set my status to away => slack:users_setPresence slack:users_profile_set
create a namespace => kubernetes:createCoreV1Namespace
update a deployment => kubernetes:patchAppsV1NamespacedDeployment kubernetes:replaceAppsV1NamespacedDeployment
delete kubernetes service => kubernetes:deleteCoreV1NamespacedService
list cron jobs => kubernetes:listBatchV1NamespacedCronJob kubernetes:listBatchV1CronJobForAllNamespaces
create a k8s secret => kubernetes:createCoreV1NamespacedSecret
read a config map => kubernetes:readCoreV1NamespacedConfigMap
evict a pod => kubernetes:createCoreV1NamespacedPodEviction
show all deployments => kubernetes:listAppsV1NamespacedDeployment kubernetes:listAppsV1DeploymentForAllNamespaces
list persistent volume claims => kubernetes:listCoreV1NamespacedPersistentVolumeClaim kubernetes:listCoreV1PersistentVolumeClaimForAllNamespaces
execute a command in a pod => kubernetes:connectCoreV1PostNamespacedPodExec kubernetes:connectCoreV1GetNamespacedPodExec
create an ingress => kubernetes:createNetworkingV1NamespacedIngress
patch statefulset => kubernetes:patchAppsV1NamespacedStatefulSet
`);
