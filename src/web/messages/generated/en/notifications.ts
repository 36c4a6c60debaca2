/** Generated from src/web/messages/en/notifications.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { formatNumber, pluralForm } from "../../format.ts";
import { rich } from "../../rich.ts";

export const title = "Notifications";
export const about = "What is sent to other systems and chats when something happens.";
export const newSubscription = "New subscription";
export const noSubscriptions = "No subscriptions yet";
export const noSubscriptionsHelp = "A subscription sends events, such as a failed run or an overdue workflow, to a URL or a chat.";
export const subscriptions = "Subscriptions";
export const deliveries = "Deliveries";
export const runFailed = "A run failed";
export const runSucceeded = "A run succeeded";
export const runWaiting = "A run waits";
export const approvalRequested = "An approval is needed";
export const workflowPublished = "A version was published";
export const workflowOverdue = "A workflow is overdue";
export const keyExpiring = "An API key expires soon";
export const testEvent = "Test";
export const signedWebhook = "Webhook (signed)";
export const urlInSecret = ({ secret }: { secret: string | number }): string =>
  `the URL in the secret ${secret}`;
export const eventsOf = ({ events, filter, workflows, tags }: { events: string | number; filter: "both" | "none" | "tags" | "workflows"; workflows: string | number; tags: string | number }): string =>
  `${events}${(filter === "none" ? "" : filter === "workflows" ? ` (only workflows ${workflows})` : filter === "tags" ? ` (only tags ${tags})` : ` (only workflows ${workflows}; tags ${tags})`)}`;
export const paused = "paused";
export const failing = "failing";
export const active = "active";
export const pendingCount = ({ count }: { count: number }): string =>
  `${formatNumber(count)} pending`;
export const givenUpCount = ({ count }: { count: number }): string =>
  `${formatNumber(count)} given up`;
export const failingSince = ({ time }: { time: ReactNode }): ReactNode =>
  rich("failing since ", time);
export const lastDelivered = ({ time }: { time: ReactNode }): ReactNode =>
  rich("last delivered ", time);
export const nothingDelivered = "nothing delivered yet";
export const testSent = "The test event is on its way. Its delivery shows what became of it.";
export const testFailed = "Couldn't send a test event";
export const changeFailed = "Couldn't change the subscription";
export const replaceFailed = "Couldn't replace the secret";
export const deleted = ({ name }: { name: string | number }): string =>
  `Deleted “${name}”.`;
export const deleteFailed = "Couldn't delete the subscription";
export const sendTest = "Send test";
export const edit = "Edit";
export const pause = "Pause";
export const resume = "Resume";
export const newSecret = "New secret";
export const replaceTitle = ({ name }: { name: string | number }): string =>
  `Replace the signing secret of “${name}”?`;
export const replaceConsequence = "For 24 hours deliveries carry signatures of both, so that the receiver can change in between.";
export const replace = "Replace";
export const deleteButton = "Delete";
export const deleteTitle = ({ name }: { name: string | number }): string =>
  `Delete “${name}”?`;
export const deleteConsequence = "Its deliveries go with it, also those that are pending. This can't be undone.";
export const deliveryState = ({ state }: { state: "delivered" | "failed" | "pending" }): string =>
  (state === "pending" ? "pending" : state === "delivered" ? "delivered" : "given up");
export const state = "State";
export const allStates = "All states";
export const clearState = "Clear state";
export const subscription = "Subscription";
export const allSubscriptions = "All subscriptions";
export const clearSubscription = "Clear subscription";
export const noDeliveries = "No deliveries";
export const noDeliveriesHelp = "They appear when something happens.";
export const sentAgain = "It is sent again, with the same id.";
export const sendAgainFailed = "Couldn't send it again";
export const attempts = ({ count }: { count: number }): string =>
  (count === 0 ? "no attempt yet" : pluralForm(count) === "one" ? `${formatNumber(count)} attempt` : `${formatNumber(count)} attempts`);
export const httpStatus = ({ status }: { status: string | number }): string =>
  `status ${status}`;
export const nextAttempt = ({ time }: { time: ReactNode }): ReactNode =>
  rich("next attempt ", time);
export const sendAgain = "Send again";
export const sendAgainEvent = ({ event, id }: { event: string | number; id: string | number }): string =>
  `Send again: ${event}, ${id}`;
export const editTitle = ({ name }: { name: string | number }): string =>
  `Edit “${name}”`;
export const name = "Name";
export const project = "Project";
export const format = "Format";
export const secretWithUrl = "Secret with the URL";
export const url = "URL";
export const urlHelpSecret = "The name of a secret in the configuration whose value is the URL.";
export const urlHelpWebhook = "Where the deliveries go. Private addresses must be allowed in the configuration.";
export const urlHelpChat = "The name of a secret in the configuration whose value is the URL of the chat's webhook, because who knows that URL can post.";
export const events = "Events";
export const workflows = "Workflows (optional)";
export const workflowsHelp = "Only events of the workflows with these ids. Press Enter to add one.";
export const tags = "Tags (optional)";
export const tagsHelp = "Only events of workflows with one of these tags. Press Enter to add one.";
export const includeValues = "With the inputs and outputs of runs";
export const includeValuesHelp = "Leave it out unless the receiver may see them.";
export const create = "Create";
export const save = "Save";
export const shownOnce = "The signing secret is shown only once, after you create it.";
export const secretTitle = ({ name }: { name: string | number }): string =>
  `Signing secret of “${name}”`;
export const copyNow = "Copy the secret now";
export const copyNowHelp = "You won't see it again. The receiver checks with it that a delivery comes from here, with any library for Standard Webhooks.";
export const signingSecret = "signing secret";
export const previousSecret = ({ time }: { time: ReactNode }): ReactNode =>
  rich("The secret before signs too until ", time, ", so that the receiver can change in between.");
export const doneSaved = "Done, I've saved it";
