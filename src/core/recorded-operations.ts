/**
 * Every operation that leaves an entry in the audit log: how the report of a key's changes shows it, what a revert does about it,
 * and what stays in force otherwise. `defineTool` accepts no operation that writes without an entry here.
 */

export interface RecordedOperation {
  /** What the key did, after "it": `deleted projects`. */
  label: string;
  /** What a revert does about it; null: nothing. */
  revert: string | null;
  /** What stays in force where it is not reverted, and what to do about it. */
  remains: string;
}

/** What a revert does about all changes of workflows. */
const WITH_WORKFLOW = "The workflow gets back what it was before the key changed it, as a new version.";
const COMPARE =
  "Where an older release recorded nothing of what was there before: compare the versions in the history.";
const RUNS_STAY =
  "What the runs did outside of Millrace stays. Read the runs; cancel_run ends those that are unfinished.";

const table = {
  add_grant: {
    label: "granted projects the use of connections",
    revert: null,
    remains: "The grants hold. remove_grant takes those away that are not wanted.",
  },
  allow_exposure: {
    label: "allowed workflows as tools",
    revert: "The consent before holds again, or none.",
    remains: "Agents get the workflow as a tool. withdraw_exposure ends it.",
  },
  archive_workflow: { label: "archived workflows", revert: WITH_WORKFLOW, remains: COMPARE },
  backtest_workflow: {
    label: "backtested workflows",
    revert: null,
    remains: "The trials that it ran have no effects.",
  },
  cancel_backfill: {
    label: "cancelled backfills",
    revert: null,
    remains: "The rest of the range has not run. start_backfill runs it.",
  },
  cancel_backtest: {
    label: "cancelled backtests",
    revert: null,
    remains: "The rest was not compared. backtest_workflow compares it.",
  },
  cancel_bulk_action: {
    label: "cancelled bulk actions",
    revert: null,
    remains: "Nothing has happened with the rest of the runs. start_bulk_action takes them up.",
  },
  cancel_run: {
    label: "cancelled runs",
    revert: null,
    remains: "The runs ended before their work was done. retry_run repeats them.",
  },
  create_api_key: {
    label: "created API keys",
    revert: null,
    remains: "The keys work. Look at their own changes, and revoke them with revoke_api_key.",
  },
  create_project: {
    label: "created projects",
    revert: null,
    remains: "The projects stay. delete_project deletes one that has nothing in it.",
  },
  create_subscription: {
    label: "created a subscription",
    revert: "The subscription is deleted, with what is not delivered yet.",
    remains: "It delivers to the URL that the key chose. delete_subscription ends it.",
  },
  create_workflow: {
    label: "created workflows",
    revert: "The workflow is archived, is no tool any more, and is not offered to other projects.",
    remains: COMPARE,
  },
  decide_approval: {
    label: "decided approvals",
    revert: null,
    remains: "The runs have continued. Read them; cancel_run ends those that are unfinished.",
  },
  decide_review: {
    label: "decided requests to publish",
    revert: null,
    remains: "What was approved is published. unpublish_workflow, or publish the version before.",
  },
  delegate_approval: {
    label: "passed approvals on",
    revert: null,
    remains: "The person that the key named can decide. Pass those that are pending on to somebody else.",
  },
  delete_project: {
    label: "deleted projects",
    revert: null,
    remains: "Its members, grants and subscriptions are gone. Create it again, or restore a backup.",
  },
  delete_subscription: {
    label: "deleted a subscription",
    revert: null,
    remains: "Nothing is delivered any more. create_subscription creates it again, with another secret.",
  },
  end_absence: {
    label: "ended absences",
    revert: null,
    remains: "The person gets approvals again. set_absence sets it again.",
  },
  end_other_sessions: {
    label: "ended other sessions",
    revert: null,
    remains: "The person signs in again.",
  },
  end_session: { label: "ended sessions", revert: null, remains: "The person signs in again." },
  invite_user: {
    label: "invited people",
    revert: null,
    remains: "Who accepts can sign in. update_user deactivates an account.",
  },
  move_workflow: {
    label: "moved workflows to other projects",
    revert: null,
    remains:
      "They stay in the other project, with its members and connections. move_workflow moves them back.",
  },
  offer_workflow: {
    label: "changed which projects a workflow is offered to",
    revert: "The workflow is offered to the projects before the key's change, and no others.",
    remains:
      "The offer stays, and an older release did not record the one before. get_offer shows it, offer_workflow replaces it.",
  },
  pause_schedule: {
    label: "paused schedules",
    revert: "The schedule is resumed.",
    remains: "resume_schedule resumes it.",
  },
  publish_workflow: {
    label: "published workflows, or what was live already, which counts as its review",
    revert: "The version that was published before is published again.",
    remains: "The version counts as reviewed by the owner of the key. Read it.",
  },
  "publish_workflow.review_requested": {
    label: "asked for reviews",
    revert: null,
    remains: "A request that is pending can be approved. decide_review rejects it.",
  },
  "publish_workflow.review_reason_changed": {
    label: "changed the reasons of requests to publish",
    revert: null,
    remains: "A request that is pending can be approved. decide_review rejects it.",
  },
  "publish_workflow.backtest_started": {
    label: "started the backtests that publishing needs",
    revert: null,
    remains: "Backtests call nothing. Their replays are purged like runs.",
  },
  "publish_workflow.differences_accepted": {
    label: "accepted what differs in backtests",
    revert: null,
    remains: "The history of versions has what was accepted. Read the published version.",
  },
  query_database: {
    label: "queried databases",
    revert: null,
    remains: "The key has read the rows. If they hold secrets, replace these.",
  },
  redeliver: {
    label: "delivered events to subscriptions again",
    revert: null,
    remains: "The receivers have got them again, with the same ids.",
  },
  redeliver_trigger_delivery: {
    label: "delivered to webhooks again",
    revert: null,
    remains: RUNS_STAY,
  },
  remove_grant: {
    label: "took grants from projects",
    revert: null,
    remains: "Runs there can't use these connections. add_grant grants them again.",
  },
  remove_project_member: {
    label: "removed members of projects",
    revert: null,
    remains: "They see nothing of the project. set_project_member adds them again.",
  },
  renew_invitation: {
    label: "renewed invitations",
    revert: null,
    remains: "Who accepts can sign in. update_user deactivates an account.",
  },
  reset_user_password: {
    label: "sent links that reset a password",
    revert: null,
    remains: "Anyone who has used such a link can sign in. Reset the password again, and end the sessions.",
  },
  reset_workflow_state: {
    label: "reset workflow states",
    revert: null,
    remains: "list_state_changes shows the values before, set_workflow_state sets them again.",
  },
  restore_workflow: { label: "restored workflows", revert: WITH_WORKFLOW, remains: COMPARE },
  resume_schedule: {
    label: "resumed schedules",
    revert: "The schedule is paused.",
    remains: "pause_schedule pauses it.",
  },
  retry_run: { label: "retried runs", revert: null, remains: RUNS_STAY },
  revert_key_changes: {
    label: "reverted changes of keys",
    revert: null,
    remains: "What it reverted has new versions. Revert these in the history of each workflow.",
  },
  revoke_api_key: {
    label: "revoked API keys",
    revert: null,
    remains: "A revoked key never works again. Create another one.",
  },
  rotate_api_key: {
    label: "rotated API keys",
    revert: null,
    remains: "Anyone who has the new key can use it. Look at its changes, and revoke it with revoke_api_key.",
  },
  rotate_subscription_secret: {
    label: "replaced the signing secret",
    revert: null,
    remains:
      "The key has seen the secret, and can sign what looks like a delivery. rotate_subscription_secret with the overlap 0s ends that.",
  },
  rotate_trigger: {
    label: "replaced the URL of a trigger",
    revert: "With rotate_triggers it is replaced again; give its senders the new one.",
    remains:
      "The key has seen the URL, which starts runs for anyone who has it. rotate_trigger replaces it again; give its senders the new one.",
  },
  run_step: { label: "ran single steps", revert: null, remains: RUNS_STAY },
  run_workflow: { label: "started runs", revert: null, remains: RUNS_STAY },
  set_absence: {
    label: "set absences",
    revert: null,
    remains: "The substitute decides approvals until then. end_absence ends it.",
  },
  set_project_member: {
    label: "gave people roles in projects",
    revert: null,
    remains: "The roles hold. set_project_member changes them, remove_project_member takes them away.",
  },
  set_workflow_state: {
    label: "set workflow states",
    revert: null,
    remains: "list_state_changes shows the values before, set_workflow_state sets them again.",
  },
  settle_interruption: {
    label: "said what became of interrupted attempts",
    revert: null,
    remains: "The runs have continued with that. Read them; cancel_run ends those that are unfinished.",
  },
  start_backfill: {
    label: "started backfills",
    revert: null,
    remains: `${RUNS_STAY} cancel_backfill ends a backfill that is unfinished.`,
  },
  start_bulk_action: {
    label: "retried or cancelled many runs",
    revert: null,
    remains: `${RUNS_STAY} cancel_bulk_action ends a bulk action that is unfinished.`,
  },
  test_subscription: {
    label: "sent test events",
    revert: null,
    remains: "The receivers have got them. They hold no values.",
  },
  unpublish_workflow: { label: "unpublished workflows", revert: WITH_WORKFLOW, remains: COMPARE },
  update_project: {
    label: "changed projects",
    revert: null,
    remains:
      "Its connections, limits and review are as the key set them. get_project shows them, update_project changes them.",
  },
  update_subscription: {
    label: "changed a subscription",
    revert: "What the key changed is as it was before. What is not on record is paused.",
    remains: "get_subscription shows where it delivers to, update_subscription changes it.",
  },
  update_user: {
    label: "changed roles and accounts of people",
    revert: null,
    remains: "The roles hold. update_user changes them.",
  },
  update_workflow: { label: "changed workflows", revert: WITH_WORKFLOW, remains: COMPARE },
  withdraw_exposure: {
    label: "withdrew the consent to workflows as tools",
    revert: "The consent before holds again, if an admin reverts it.",
    remains: "Agents don't get the workflow as a tool. allow_exposure allows it.",
  },
  withdraw_review: {
    label: "withdrew requests to publish",
    revert: null,
    remains: "Nothing was published. publish_workflow asks again.",
  },
} as const satisfies Readonly<Record<string, RecordedOperation>>;

/** The names of operations that write, and their outcomes that need words of their own. */
export type RecordedName = keyof typeof table;

export const RECORDED_OPERATIONS: Readonly<Record<RecordedName, RecordedOperation>> = table;

/** What the runs of a key leave in its name: in the audit log, and in the state of workflows (`commit_state`). */
export const RECORDED_OF_RUNS: Readonly<
  Record<"commit_state" | "escalate_approval" | "use_secret", RecordedOperation>
> = {
  commit_state: {
    label: "started runs, of those that are still kept, that changed the state of workflows",
    revert: null,
    remains:
      "Later runs read these values. list_state_changes shows the values before, also of runs that are no longer kept; " +
      "set_workflow_state sets them again.",
  },
  escalate_approval: {
    label: "started runs whose approvals were escalated",
    revert: null,
    remains: "The people that the workflow names can decide.",
  },
  use_secret: {
    label: "started runs that used secrets",
    revert: null,
    remains: "If a workflow of the key sent one to a host that you don't know, replace the secret.",
  },
};

/** Of an answer with values of runs, which is recorded if the operator asks for it (`audit.reads`). */
const READ = ".read";
const OF_READS: RecordedOperation = {
  label: "read values of runs",
  revert: null,
  remains: "The key knows these values. If they hold secrets, replace these.",
};

/** @param operation as an audit entry names it: with its outcome after a dot, and perhaps of another release */
export function recordedOperation(operation: string): RecordedOperation {
  if (operation.endsWith(READ)) return OF_READS;
  const all: Readonly<Record<string, RecordedOperation>> = { ...RECORDED_OF_RUNS, ...RECORDED_OPERATIONS };
  const [name] = operation.split(".");
  return all[operation] ?? all[name!] ?? unknownOperation(operation);
}

const unknownOperation = (operation: string): RecordedOperation => ({
  label: `used ${operation}, which this release does not have`,
  revert: null,
  remains: "The audit log has its entries (list_audit_log). Look at what it changed.",
});
