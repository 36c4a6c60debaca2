/**
 * The rules of who may do what, who caused a run and who may decide its approvals, said again in the simplest way. Nothing here
 * is imported from the program: a rule that is lost there is still here. What the rules are about is in state.ts, and conditions.ts
 * applies the tables.
 */
import { absenteesOf, isAlive, subjectOf } from "./people.ts";
import { DEFAULT, OPERATOR } from "./state.ts";
import type { About, Actor, Approval, Delivery, Role, Run, Scope, State, Workflow } from "./state.ts";

/** What each role can do in its project. An admin of the default project is one in every project. */
const ROLE_SCOPES: Readonly<Record<Role, readonly Scope[]>> = {
  member: [],
  viewer: ["read"],
  editor: ["read", "write", "publish", "run", "approve"],
  admin: ["read", "write", "publish", "run", "approve", "admin"],
};
/** What a key can have that is limited to workflows. */
export const WITHIN_WORKFLOWS: ReadonlySet<Scope> = new Set<Scope>(["read", "run", "approve"]);

export const words = (text: string): string[] => text.trim().split(/\s+/);

/**
 * Each operation, by the scope that it needs and by what it is about: it needs the scope in the project of that. `any` is about
 * nothing, and needs the scope in any project; `list` shows what the caller can find, and may name a project that it can read.
 */
export const NEEDS: Readonly<Record<Scope, Partial<Record<About, string>>>> = {
  read: {
    any: `create_api_key describe_key end_absence end_other_sessions end_session get_absence get_key_changes list_api_keys
      list_approvals list_projects list_sessions revoke_api_key rotate_api_key set_absence`,
    list: "get_overdue_workflows group_runs list_bulk_actions list_interruptions list_reviews list_runs list_schedules list_workflows",
    project: "describe_database describe_environment get_project list_grants list_offered_workflows",
    workflow: `get_backfill get_backtest get_exposure get_offer get_schedule get_trigger_delivery get_triggers get_workflow get_workflow_state
      get_workflow_version list_backfills list_backtest_runs list_backtests list_state_changes list_trigger_deliveries list_workflow_runs list_workflow_versions
      plan_workflow preview_backfill`,
    bulk_action: "get_bulk_action list_bulk_action_runs",
    interruption: "get_interruption",
    run: "compare_runs get_run get_run_definition get_run_value",
    approval: "get_approval",
    review: "get_review",
  },
  write: {
    project: "create_workflow query_database validate_workflow",
    workflow: "archive_workflow reset_workflow_state restore_workflow set_workflow_state update_workflow",
  },
  publish: {
    any: "revert_key_changes",
    workflow: `pause_schedule publish_workflow redeliver_trigger_delivery resume_schedule rotate_trigger unpublish_workflow`,
    review: "decide_review withdraw_review",
  },
  run: {
    project: "run_step",
    workflow: "backtest_workflow cancel_backfill cancel_backtest run_workflow start_backfill",
    run: "cancel_run retry_run start_bulk_action",
    bulk_action: "cancel_bulk_action",
  },
  approve: { approval: "decide_approval delegate_approval", interruption: "settle_interruption" },
  admin: {
    any: "create_project invite_user list_users renew_invitation reset_user_password update_user",
    list: "list_deliveries list_subscriptions",
    project: `add_grant create_subscription delete_project export_audit_log list_audit_log list_project_members remove_grant
      remove_project_member set_project_member update_project`,
    subscription: `delete_subscription get_subscription rotate_subscription_secret test_subscription update_subscription`,
    delivery: "get_delivery redeliver",
    workflow: "allow_exposure move_workflow offer_workflow withdraw_exposure",
  },
};
/** About the instance: they need their scope in the default project. */
export const OF_INSTANCE = new Set(
  words(`add_grant create_project delete_project invite_user list_users remove_grant renew_invitation
    reset_user_password update_user`),
);
/** No key can use these: they could create further access. */
export const FOR_PEOPLE = new Set(
  words(`create_api_key decide_review end_absence end_other_sessions end_session get_absence get_key_changes invite_user
    list_api_keys list_project_members list_sessions list_users remove_project_member renew_invitation reset_user_password
    revert_key_changes revoke_api_key rotate_api_key set_absence set_project_member update_user`),
);

/** What each operation needs beyond its scope: the refusals, each with a condition of conditions.ts. The first that does not hold decides. */
export const RULES: Readonly<Record<string, string>> = {
  // What takes effect without a publication needs the scope publish, and a key makes nothing happen that it could not do itself.
  update_workflow: "missing_scope unless changesNothingLive",
  archive_workflow: "missing_scope unless changesNothingLive",
  restore_workflow: "not_permitted unless isLiveWithinKey, missing_scope unless changesNothingLive",
  publish_workflow: "workflow_not_runnable unless mayGoLive, not_permitted unless mayStayLive",
  offer_workflow: "not_permitted unless isLiveWithinKey",
  allow_exposure: "not_permitted unless isLiveWithinKey",
  rotate_trigger: "not_permitted unless isLiveWithinKey",
  resume_schedule: "not_permitted unless mayResume",
  start_backfill: "workflow_not_runnable unless isLiveWithinKey",
  redeliver_trigger_delivery:
    "missing_scope unless canRunWorkflow, workflow_not_runnable unless isLiveWithinKey",
  // Both projects have to agree to a move.
  move_workflow: "project_not_found unless seesTarget, missing_scope unless administersTarget",
  // What no version says needs the scope write, and a retry starts where the workflow is now.
  run_workflow: "missing_scope unless canWriteUnsaved, workflow_not_runnable unless isWithinKey",
  run_step: "missing_scope unless canWriteUnsaved",
  retry_run: `workflow_not_found unless seesWhereItStarts, missing_scope unless canRunWhereItStarts,
    missing_scope unless canWriteUnsaved, workflow_not_runnable unless isWithinKey, workflow_not_runnable unless isDecidable`,
  // Two runs are compared only for callers who see both.
  compare_runs: "run_not_found unless seesOtherRun",
  get_backfill: "backfill_not_found unless seesWhereItStarted",
  cancel_backfill: "backfill_not_found unless seesWhereItStarted, missing_scope unless canRunWhereItStarted",
  // What it compares with is of the project where the workflow is now.
  backtest_workflow:
    "missing_scope unless canWriteUnsaved, run_not_found unless hasRunsToCompare, workflow_not_runnable unless isWithinKey",
  get_backtest: "backtest_not_found unless seesWhereItStarted",
  list_backtest_runs: "backtest_not_found unless seesWhereItStarted",
  cancel_backtest: "backtest_not_found unless seesWhereItStarted, missing_scope unless canRunWhereItStarted",
  query_database: "database_not_found unless isDatabaseWithinKey",
  describe_database: "database_not_found unless isDatabaseWithinKey",
  // Decisions.
  decide_approval: "approval_not_yours unless mayDecideNow",
  delegate_approval: "approval_not_yours unless mayPassOn, invalid_input unless mayTakeOver",
  decide_review: "review_not_yours unless mayReview",
  withdraw_review: "review_not_yours unless asked",
  // A key could publish without a review if it could end them.
  update_project: "person_needed unless keepsReviews",
  // A key can't have what its creator has not, and only its owner rotates it.
  create_api_key: "invalid_input unless mayGive",
  revoke_api_key: "api_key_not_found unless isOwnerOrAdmin",
  rotate_api_key: "api_key_not_found unless isOwner",
  get_key_changes: "api_key_not_found unless isOwnerOrAdmin",
  revert_key_changes: "api_key_not_found unless isOwnerOrAdmin",
  list_api_keys: "missing_scope unless isAdminForEveryone",
  end_session: "session_not_found unless isOwner",
  set_absence: "missing_scope unless isSelfOrAdmin, invalid_input unless mayStandIn",
  end_absence: "missing_scope unless isSelfOrAdmin",
};

/** The scopes of a caller in a project: those of the role, and of a key no others than its own. */
export function scopesIn({ people }: State, actor: Actor, project: string): readonly Scope[] {
  const person = people.get(actor.owner);
  const role = person?.role === "admin" || project === DEFAULT ? person?.role : person?.roles.get(project);
  const owners = actor.owner === OPERATOR ? ROLE_SCOPES.admin : ROLE_SCOPES[role ?? "member"];
  if (actor.kind === "session") return owners;
  const isUsable = (scope: Scope): boolean =>
    owners.includes(scope) && (actor.limits.workflows === undefined || WITHIN_WORKFLOWS.has(scope));
  return actor.projects.includes(project) ? actor.scopes.filter(isUsable) : [];
}
export const has = (state: State, actor: Actor, project: string, scope: Scope): boolean =>
  scopesIn(state, actor, project).includes(scope);

/** Who caused a run, by subject: they decide none of its approvals, nor those of the runs that it calls. */
export const causes = {
  ofStart: ({ subject }: Actor) => new Set([subject]),
  ofRetry: ({ subject }: Actor, run: Run) => new Set([subject, ...run.causes]),
  /** The publisher answers for what a sender starts. */
  ofDelivery: ({ startsFor }: Workflow) => new Set([startsFor!]),
  ofRedelivery: ({ subject }: Actor, delivery: Delivery) => new Set([subject, ...delivery.causes]),
};

/**
 * Whether somebody may decide: not who caused the run, nor who wrote or published what takes part in it, unless another person has
 * published that since. With assignees only they may, and their substitutes, and a signed-in admin in their place, unless they
 * passed it on.
 */
export function mayDecide(
  state: State,
  actor: Actor,
  { run, seats }: Approval,
  operation = "decide_approval",
): "ok" | "override" | "not approve" | "not assigned" | "caused it" | "wrote it" | "absent may not" {
  if (!has(state, actor, run.project, "approve")) return "not approve";
  if (actor.limits.tools?.includes(operation) === false) return "not approve";
  const isAssigned = seats.size === 0 || [...seats.values()].includes(actor.owner);
  const absent = absenteesOf(state, actor.owner).filter((person) => [...seats.values()].includes(person));
  const isAdminHere = actor.kind === "session" && has(state, actor, run.project, "admin");
  if (!isAssigned && absent.length === 0 && (!isAdminHere || seats.has(actor.owner))) return "not assigned";
  if (run.causes.has(actor.subject)) return "caused it";
  if (isOwnWork(actor.subject, run)) return "wrote it";
  if (isAssigned) return "ok";
  if (absent.length === 0) return "override";
  return absent.every((person) => isOwnRun(subjectOf(person), run)) ? "absent may not" : "ok";
}
/** Whether somebody wrote or published a version, and nobody else has published it, or a newer one before it, since. */
const isOwnWork = (subject: string, { versions }: Run): boolean =>
  versions.some(({ workflow, version }) => {
    const known = workflow.reviews.filter((review) => review.version <= version);
    const seen = known.filter(({ by }) => by !== subject).map((review) => review.version);
    if (workflow.versions.slice(Math.max(0, ...seen), version).some(({ by }) => by === subject)) return true;
    return known.findLast((review) => review.version === version)?.by === subject;
  });
export const isOwnRun = (subject: string, run: Run): boolean =>
  run.causes.has(subject) || isOwnWork(subject, run);

const LINK = { kind: "link", label: "", isValid: true, scopes: ["read", "approve"], limits: {} } as const;
/** Whether the recipient of a link decides: who may with the account, or an address that a saved version names. */
export function mayDecideByLink(state: State, recipient: string, approval: Approval): boolean {
  const { run, seats } = approval;
  const { linksTo } = run.content;
  const person = state.people.get(recipient);
  const subject = subjectOf(recipient);
  // The link allows no more than to read and to decide, and nothing in the place of others.
  const actor: Actor = { ...LINK, owner: recipient, subject, projects: [run.project] };
  if (person !== undefined)
    return linksTo !== null && isAlive(state, actor) && mayDecide(state, actor, approval) === "ok";
  const isSeated = [...seats.values()].includes(recipient) && !isOwnRun(subject, run);
  return linksTo?.includes(recipient) === true && run.writers === null && isSeated;
}

/**
 * Whether a person must ask another one to publish a version where the project requires reviews: every key, and who wrote a part of
 * it that no other person has published, signed in, since.
 */
export const needsReview = (state: State, actor: Actor, workflow: Workflow, version: number): boolean =>
  state.reviewed.has(workflow.project) && (actor.kind === "key" || wroteUnreviewed(actor, workflow, version));

export function wroteUnreviewed(
  { subject }: Actor,
  { versions, reviews, published }: Workflow,
  version: number,
): boolean {
  const isOthers = (review: Workflow["reviews"][number]): boolean =>
    review.version <= version && review.isPersonal && review.by !== subject;
  const live = published !== null && published <= version ? published : 0;
  const reviewed = Math.max(live, ...reviews.filter(isOthers).map((review) => review.version));
  return versions.slice(reviewed, version).some(({ by }) => by === subject);
}
