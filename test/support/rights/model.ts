/**
 * The rules of who may do what, who caused a run and who may decide its approvals, said again in the simplest way. Nothing here
 * is imported from the program: a rule that is lost there is still here. What the rules are about is in state.ts.
 */
import { DEFAULT, OPERATOR } from "./state.ts";
import type { Actor, Approval, Case, Content, Delivery, Role, Run, Scope, State, Workflow } from "./state.ts";

/** `ok`, or the code of the refusal. */
export type Answer = string;

/** What each role can do in its project. An admin of the default project is one in every project. */
const ROLE_SCOPES: Readonly<Record<Role, readonly Scope[]>> = {
  member: [],
  viewer: ["read"],
  editor: ["read", "write", "publish", "run", "approve"],
  admin: ["read", "write", "publish", "run", "approve", "admin"],
};
/** What a key can have that is limited to workflows. */
const WITHIN_WORKFLOWS: ReadonlySet<Scope> = new Set<Scope>(["read", "run", "approve"]);

const words = (text: string): string[] => text.trim().split(/\s+/);

/**
 * Each operation, by the scope that it needs and by what it is about: it needs the scope in the project of that. `any` is about
 * nothing, and needs the scope in any project; `list` shows what the caller can find, and may name a project that it can read.
 */
const NEEDS: Readonly<Record<Scope, Partial<Record<keyof typeof ABOUT, string>>>> = {
  read: {
    any: `create_api_key describe_key end_absence end_other_sessions end_session get_absence get_key_changes list_api_keys
      list_approvals list_projects list_sessions revoke_api_key rotate_api_key set_absence`,
    list: "get_overdue_workflows list_reviews list_runs list_schedules list_workflows",
    project: "describe_database describe_environment get_project list_grants list_offered_workflows",
    workflow: `get_backfill get_exposure get_offer get_schedule get_trigger_delivery get_triggers get_workflow get_workflow_state
      get_workflow_version list_backfills list_state_changes list_trigger_deliveries list_workflow_runs list_workflow_versions
      plan_workflow preview_backfill`,
    run: "get_run get_run_definition get_run_value",
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
    workflow: "cancel_backfill run_workflow start_backfill",
    run: "cancel_run retry_run",
  },
  approve: { approval: "decide_approval delegate_approval" },
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

/** What a request is about. `workflow` is undefined for a project, and null for what belongs to none of its workflows. */
interface Thing {
  project: string | undefined;
  workflow?: string | null;
}
const ofRun = (run?: Run): Thing => ({ project: run?.project, workflow: run?.workflow?.id ?? null });
const ofWorkflow = (one?: Workflow): Thing => ({ project: one?.project, ...(one && { workflow: one.id }) });
const ABOUT = {
  any: (): Thing => ({ project: undefined }),
  list: ({ project }: Case): Thing => ({ project }),
  project: ({ project }: Case): Thing => ({ project }),
  workflow: ({ workflow }: Case): Thing => ofWorkflow(workflow),
  run: ({ run }: Case): Thing => ofRun(run),
  approval: ({ approval }: Case): Thing => ofRun(approval?.run),
  review: ({ review }: Case): Thing => ofWorkflow(review?.workflow),
  subscription: ({ project }: Case): Thing => ({ project, workflow: null }),
  delivery: ({ project }: Case): Thing => ({ project, workflow: null }),
};
/** Every operation of the model, with its scope and what it is about. */
export const OPERATIONS: ReadonlyMap<string, { scope: Scope; about: keyof typeof ABOUT }> = new Map(
  Object.entries(NEEDS).flatMap(([scope, byThing]) =>
    Object.entries(byThing).flatMap(([about, names]) =>
      words(names).map((name) => [name, { scope: scope as Scope, about: about as keyof typeof ABOUT }]),
    ),
  ),
);

/** The scopes of a caller in a project: those of the role, and of a key no others than its own. */
function scopesIn({ people }: State, actor: Actor, project: string): readonly Scope[] {
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
export const sees = (state: State, actor: Actor, { project, workflow }: Thing): boolean =>
  has(state, actor, project!, "read") &&
  (workflow === undefined || actor.limits.workflows?.some((id) => id === workflow) !== false);
export const seesRun = (state: State, actor: Actor, run: Run): boolean => sees(state, actor, ofRun(run));
const isAlive = ({ people }: State, { owner, isValid }: Actor): boolean =>
  isValid && people.get(owner)?.isActive !== false;

/** Whether somebody may use an operation at all, and on this: what other projects have does not exist for the caller. */
export function may(state: State, actor: Actor, operation: string, it: Case = {}): Answer {
  const { scope, about } = OPERATIONS.get(operation)!;
  const isOfInstance = OF_INSTANCE.has(operation);
  if (!isAlive(state, actor)) return "unauthorized";
  if (FOR_PEOPLE.has(operation) && actor.kind === "key") return "person_needed";
  if (operation === "describe_key" && actor.kind === "key") return "ok";
  if (actor.limits.tools?.includes(operation) === false) return "not_permitted";
  if (!(isOfInstance ? [DEFAULT] : state.projects).some((project) => has(state, actor, project, scope)))
    return "missing_scope";
  const thing = ABOUT[about](it);
  if (thing.project === undefined) return "ok";
  if (!sees(state, actor, thing)) return `${about === "list" ? "project" : about}_not_found`;
  return isOfInstance || about === "list" || has(state, actor, thing.project, scope) ? "ok" : "missing_scope";
}

type Rule = readonly [refusal: string, holds: (state: State, actor: Actor, it: Case) => boolean];
const isIn = (project: (it: Case) => string, scope: Scope): Rule => [
  "missing_scope",
  (state, actor, it) => has(state, actor, project(it), scope),
];
const isAdmin = (state: State, actor: Actor): boolean => has(state, actor, DEFAULT, "admin");
const isOwn: Rule = ["api_key_not_found", (_, actor, { key }) => key!.owner === actor.owner];
const isOwnOrAdmins: Rule = ["api_key_not_found", (...of) => isOwn[1](...of) || isAdmin(of[0], of[1])];
/** What takes effect without a publication needs the scope `publish`. */
const changesNothingLive: Rule = [
  "missing_scope",
  (state, actor, { workflow }) =>
    workflow!.published === null || has(state, actor, workflow!.project, "publish"),
];
/** A key with limits starts nothing that uses other databases, and makes nothing happen later that does. */
const isWithin = ({ limits: { databases } }: Actor, { usesDatabase }: Content): boolean =>
  !usesDatabase || databases?.includes("depot") !== false;
const liveOf = ({ published, versions }: Workflow): Content =>
  versions[(published ?? versions.length) - 1]!.content;
const startsWithin = (refusal: string, content: (it: Case) => Content): Rule => [
  refusal,
  (_, actor, it) => isWithin(actor, content(it)),
];
const liveWithin = (refusal: string): Rule => startsWithin(refusal, ({ workflow }) => liveOf(workflow!));
/** What no version says needs the scope `write`, or a key that can only run things would execute its own code. */
const writesUnsaved = (run: (it: Case) => Run): Rule => [
  "missing_scope",
  (state, actor, it) => !run(it).isUnsaved || has(state, actor, run(it).project, "write"),
];
const isForSelfOrAdmin: Rule = [
  "missing_scope",
  (state, actor, { person = actor.owner }) =>
    person === actor.owner || state.people.get(actor.owner)?.role === "admin",
];

/** What each operation needs beyond its scope. The first rule that does not hold is the answer. */
const RULES: Readonly<Record<string, readonly Rule[]>> = {
  // Workflows, and what makes their runs happen.
  update_workflow: [changesNothingLive],
  archive_workflow: [changesNothingLive],
  restore_workflow: [liveWithin("not_permitted"), changesNothingLive],
  publish_workflow: [
    ["workflow_not_runnable", mayGoLive],
    ["not_permitted", mayStayLive],
  ],
  offer_workflow: [liveWithin("not_permitted")],
  allow_exposure: [liveWithin("not_permitted")],
  rotate_trigger: [liveWithin("not_permitted")],
  resume_schedule: [
    ["not_permitted", (_, actor, { workflow }) => !workflow!.isPaused || isWithin(actor, liveOf(workflow!))],
  ],
  move_workflow: [
    ["project_not_found", (state, actor, { to }) => sees(state, actor, { project: to })],
    isIn(({ to }) => to!, "admin"),
  ],
  // Runs.
  run_workflow: [
    writesUnsaved(({ run }) => run!),
    startsWithin("workflow_not_runnable", ({ run }) => run!.content),
  ],
  run_step: [writesUnsaved(({ run }) => run!)],
  retry_run: [
    // The workflow may have moved: the new run starts where it is now.
    ["workflow_not_found", (state, actor, { next }) => seesRun(state, actor, next!)],
    isIn(({ next }) => next!.project, "run"),
    writesUnsaved(({ next }) => next!),
    startsWithin("workflow_not_runnable", ({ next }) => next!.content),
    // Somebody unknown could have started it, and decide.
    ["workflow_not_runnable", (_, __, { run, next }) => !run!.isAnonymous || !next!.content.asks],
  ],
  start_backfill: [liveWithin("workflow_not_runnable")],
  get_backfill: [
    ["backfill_not_found", (state, actor, { startedIn }) => has(state, actor, startedIn!, "read")],
  ],
  cancel_backfill: [
    ["backfill_not_found", (state, actor, { startedIn }) => has(state, actor, startedIn!, "read")],
    isIn(({ startedIn }) => startedIn!, "run"),
  ],
  redeliver_trigger_delivery: [
    isIn(({ workflow }) => workflow!.project, "run"),
    liveWithin("workflow_not_runnable"),
  ],
  query_database: [
    ["database_not_found", (_, { limits }, { database }) => limits.databases?.includes(database!) !== false],
  ],
  describe_database: [
    ["database_not_found", (_, { limits }, { database }) => limits.databases?.includes(database!) !== false],
  ],
  // Decisions.
  decide_approval: [
    [
      "approval_not_yours",
      (state, actor, { approval, override }) =>
        [override === true ? "override" : "ok", "ok"].includes(mayDecide(state, actor, approval!)),
    ],
  ],
  delegate_approval: [
    [
      "approval_not_yours",
      (state, actor, { approval }) =>
        mayDecide(state, actor, approval!) === "ok" && [...approval!.seats.values()].includes(actor.owner),
    ],
    ["invalid_input", mayTakeOver],
  ],
  decide_review: [
    [
      "review_not_yours",
      (_, actor, { review }) =>
        review!.by !== actor.subject && !wroteUnreviewed(actor, review!.workflow, review!.version),
    ],
  ],
  withdraw_review: [["review_not_yours", (_, { subject }, { review }) => review!.by === subject]],
  // A key could publish without a review if it could end them.
  update_project: [
    [
      "person_needed",
      ({ reviewed }, { kind }, { project, requiresReview }) =>
        requiresReview !== false || kind === "session" || !reviewed.has(project!),
    ],
  ],
  // Access: a key can't have what its creator has not, and only its owner rotates it.
  create_api_key: [["invalid_input", mayGive]],
  revoke_api_key: [isOwnOrAdmins],
  rotate_api_key: [isOwn],
  get_key_changes: [isOwnOrAdmins],
  revert_key_changes: [isOwnOrAdmins],
  list_api_keys: [
    ["missing_scope", (state, actor, { everyone }) => everyone !== true || isAdmin(state, actor)],
  ],
  end_session: [["session_not_found", (_, actor, { key }) => key!.owner === actor.owner]],
  set_absence: [isForSelfOrAdmin, ["invalid_input", mayStandIn]],
  end_absence: [isForSelfOrAdmin],
};

/** The answer to a request. */
export function answerTo(state: State, actor: Actor, operation: string, it: Case = {}): Answer {
  const answer = may(state, actor, operation, it);
  if (answer !== "ok") return answer;
  return RULES[operation]?.find(([, holds]) => !holds(state, actor, it))?.[0] ?? "ok";
}

/** What is live already is checked no more, except for the limits of the key: to publish it is to review it. */
function mayGoLive(_: State, actor: Actor, { workflow, version }: Case): boolean {
  const content = workflow!.versions[version! - 1]!.content;
  return (
    workflow!.published === version ||
    (isWithin(actor, content) && !(content.asks && content.trigger === "unsigned"))
  );
}
function mayStayLive(_: State, actor: Actor, { workflow, version }: Case): boolean {
  return workflow!.published !== version || isWithin(actor, liveOf(workflow!));
}

/** Who caused a run, by subject: they decide none of its approvals, nor those of the runs that it calls. */
export const causes = {
  ofStart: ({ subject }: Actor) => new Set([subject]),
  ofRetry: ({ subject }: Actor, run: Run) => new Set([subject, ...run.causes]),
  /** Whoever has published it answers for what a sender starts. */
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
): "ok" | "override" | "not approve" | "not assigned" | "caused it" | "wrote it" | "absent may not" {
  if (!has(state, actor, run.project, "approve")) return "not approve";
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
/** A person is the same with all addresses that differ in a tag. */
export const subjectOf = (email: string): string => email.replace(/\+[^@]*@/, "@");
const isOwnRun = (subject: string, run: Run): boolean => run.causes.has(subject) || isOwnWork(subject, run);

/** Whom somebody stands in for, also through others who are away. */
function absenteesOf({ absences }: State, email: string): string[] {
  const found = new Set([email]);
  for (const person of found)
    for (const [away, substitute] of absences) if (substitute === person) found.add(away);
  return [...found].slice(1);
}
/** Whether somebody wrote or published a version, and nobody else has published it, or a newer one before it, since. */
const isOwnWork = (subject: string, { versions }: Run): boolean =>
  versions.some(({ workflow, version }) => {
    const known = workflow.reviews.filter((review) => review.version <= version);
    const seen = known.filter(({ by }) => by !== subject).map((review) => review.version);
    if (workflow.versions.slice(Math.max(0, ...seen), version).some(({ by }) => by === subject)) return true;
    return known.findLast((review) => review.version === version)?.by === subject;
  });
/** Whether another person may get an approval: who may decide it then, and could not before. */
function mayTakeOver(state: State, actor: Actor, { approval, to }: Case): boolean {
  const { run, seats } = approval!;
  const other: Actor = { ...actor, kind: "session", owner: to!, subject: subjectOf(to!), isValid: true };
  const isFree =
    ![...seats.values()].includes(to!) && isAlive(state, other) && other.subject !== actor.subject;
  return isFree && has(state, other, run.project, "approve") && !isOwnRun(other.subject, run);
}
/** The substitute is an active person of a project of the caller, and nobody becomes their own substitute. */
function mayStandIn(state: State, actor: Actor, { person = actor.owner, to }: Case): boolean {
  const { people, absences, projects } = state;
  const other: Actor = { ...actor, kind: "session", owner: to!, isValid: true };
  const isColleague = projects.some(
    (project) => has(state, other, project, "read") && has(state, actor, project, "read"),
  );
  if (subjectOf(to!) === subjectOf(person) || !isAlive(state, other)) return false;
  if (people.get(actor.owner)?.role !== "admin" && !isColleague) return false;
  const seen = new Set([person]);
  for (let next = to!; !seen.has(next) && absences.has(next); next = absences.get(next)!) {
    if (absences.get(next) === person) return false;
    seen.add(next);
  }
  return true;
}
/** Whether the recipient of a link decides: who may with the account, or an address that a saved version names. */
export function mayDecideByLink(state: State, recipient: string, approval: Approval): boolean {
  const { run, seats } = approval;
  const { linksTo } = run.content;
  const person = state.people.get(recipient);
  const actor: Actor = {
    label: "",
    kind: "link",
    owner: recipient,
    subject: subjectOf(recipient),
    isValid: true,
    scopes: ["read", "approve"],
    projects: [run.project],
    limits: {},
  };
  if (person !== undefined)
    return linksTo !== null && isAlive(state, actor) && mayDecide(state, actor, approval) === "ok";
  const isSeated = [...seats.values()].includes(recipient) && !isOwnRun(actor.subject, run);
  return linksTo?.includes(recipient) === true && run.writers === null && isSeated;
}

/**
 * Whether a person must ask another one to publish a version where the project requires reviews: every key, and who wrote a part of
 * it that no other person has published, signed in, since.
 */
export const needsReview = (state: State, actor: Actor, workflow: Workflow, version: number): boolean =>
  state.reviewed.has(workflow.project) && (actor.kind === "key" || wroteUnreviewed(actor, workflow, version));

function wroteUnreviewed(
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
/** Whether the new key has no scope, project, workflow or tool that its creator can't give. */
function mayGive(state: State, actor: Actor, { wanted, workflows }: Case): boolean {
  const { scopes, projects, limits } = wanted!;
  const own = projects.filter((project) => scopesIn(state, actor, project).length > 0);
  const grantable = new Set(own.flatMap((project) => scopesIn(state, actor, project)));
  const isSeen = (id: string): boolean => {
    const { project } = workflows!.get(id)!;
    return projects.includes(project) && sees(state, actor, { project, workflow: id });
  };
  return (
    own.length === projects.length &&
    scopes.every((scope) => grantable.has(scope)) &&
    (limits.workflows === undefined || scopes.every((scope) => WITHIN_WORKFLOWS.has(scope))) &&
    (limits.workflows ?? []).every(isSeen) &&
    (limits.tools ?? []).every((name) => ["read", ...scopes].includes(OPERATIONS.get(name)!.scope))
  );
}

/** Whether the URL of a trigger, or of a wait for an event, is in the answer: without a signature it starts runs. */
export const showsTriggerUrl = (
  state: State,
  actor: Actor,
  { project }: Workflow,
  content: Content,
): boolean =>
  has(state, actor, project, "write") &&
  (content.trigger === "signed" || (has(state, actor, project, "run") && isWithin(actor, content)));
export const showsEventUrl = (state: State, actor: Actor, { project }: Run): boolean =>
  has(state, actor, project, "run");
/** Whether the workflows of a project can call this one of another project. */
export const isOffered = ({ isArchived, published, offeredTo }: Workflow, project: string): boolean =>
  !isArchived && published !== null && offeredTo.includes(project);
