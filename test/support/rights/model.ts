/**
 * The rules of who may do what, who caused a run and who may decide its approvals, said again in the simplest way. Nothing here
 * is imported from the program: a rule that is lost there is still here.
 */
import { FOR_PEOPLE, type Operation, ROLE_SCOPES, type Scope, SCOPE_OF, WITHIN_WORKFLOWS } from "./needs.ts";
import {
  type Actor,
  type Approval,
  type Content,
  DEFAULT,
  OPERATOR,
  type Review,
  type Run,
  type State,
  type Workflow,
} from "./state.ts";

/** `ok`, or the code of the refusal; `a|b` where two refusals apply and their order is not a rule. */
export type Answer = string;

/** What a request is about. `workflow` is undefined for a project, and null for what belongs to none of its workflows. */
interface Thing {
  project: string;
  workflow?: string | null;
  missing: string;
}

function scopesIn({ people }: State, actor: Actor, project: string): readonly Scope[] {
  const person = people.get(actor.owner);
  const role = person?.role === "admin" || project === DEFAULT ? person?.role : person?.roles.get(project);
  const owners = actor.owner === OPERATOR ? ROLE_SCOPES.admin : ROLE_SCOPES[role ?? "member"];
  if (actor.kind === "session") return owners;
  const held = actor.projects.includes(project) ? actor.scopes : [];
  return held.filter(
    (scope) =>
      owners.includes(scope) && (actor.limits.workflows === undefined || WITHIN_WORKFLOWS.has(scope)),
  );
}
const scopesAnywhere = (state: State, actor: Actor): Scope[] =>
  state.projects.flatMap((project) => scopesIn(state, actor, project));
export const has = (state: State, actor: Actor, project: string, scope: Scope): boolean =>
  scopesIn(state, actor, project).includes(scope);
export const sees = (state: State, actor: Actor, { project, workflow }: Omit<Thing, "missing">): boolean =>
  has(state, actor, project, "read") &&
  (workflow === undefined || actor.limits.workflows?.some((id) => id === workflow) !== false);
const isAlive = ({ people }: State, { owner, isValid }: Actor): boolean =>
  isValid && people.get(owner)?.isActive !== false;

/** The first refusal of several rules, each of which is asked only if those before it refuse nothing. */
const first = (...rules: (() => Answer)[]): Answer => {
  for (const rule of rules) {
    const answer = rule();
    if (answer !== "ok") return answer;
  }
  return "ok";
};
const unless = (isAllowed: boolean, refusal: Answer): Answer => (isAllowed ? "ok" : refusal);

/** Whether somebody may use an operation at all, and on this: what other projects have does not exist for the caller. */
export function may(state: State, actor: Actor, operation: Operation, thing?: Thing): Answer {
  const scope = SCOPE_OF.get(operation)!;
  const isOfInstance = operation === "update_user";
  if (!isAlive(state, actor)) return "unauthorized";
  if (FOR_PEOPLE.has(operation) && actor.kind === "key") return "person_needed";
  if (operation === "describe_key" && actor.kind === "key") return "ok";
  if (actor.limits.tools?.includes(operation) === false) return "not_permitted";
  const held = isOfInstance ? scopesIn(state, actor, DEFAULT) : scopesAnywhere(state, actor);
  if (!held.includes(scope)) return "missing_scope";
  if (thing === undefined) return "ok";
  if (!sees(state, actor, thing)) return thing.missing;
  return unless(has(state, actor, thing.project, scope), "missing_scope");
}
export const ofWorkflow = ({ id, project }: Workflow): Thing => ({
  project,
  workflow: id,
  missing: "workflow_not_found",
});
export const ofProject = (project: string): Thing => ({ project, missing: "project_not_found" });
const ofRun = ({ project, workflow }: Run, missing: string): Thing => ({
  project,
  workflow: workflow?.id ?? null,
  missing,
});

const isBeyond = ({ limits: { databases } }: Actor, { usesDatabase }: Content): boolean =>
  usesDatabase && databases?.includes("depot") === false;
const contentOf = ({ versions }: Workflow, version: number): Content => versions[version - 1]!.content;

/** The rules of single operations, beyond `may`. */
export const rules = {
  publish: (state: State, actor: Actor, workflow: Workflow, version: number): Answer =>
    first(
      () => may(state, actor, "publish_workflow", ofWorkflow(workflow)),
      () => {
        // What is live already is checked no more, except for the limits of the key: to publish it is to review it.
        if (workflow.published === version) return withinForLater(actor, workflow);
        const { asks, trigger } = contentOf(workflow, version);
        const isRefused = asks && trigger === "unsigned";
        return unless(!isBeyond(actor, contentOf(workflow, version)) && !isRefused, "workflow_not_runnable");
      },
    ),
  rename: (state: State, actor: Actor, workflow: Workflow): Answer =>
    first(
      () => may(state, actor, "update_workflow", ofWorkflow(workflow)),
      () => takesEffect(state, actor, workflow),
    ),
  archive: (state: State, actor: Actor, workflow: Workflow): Answer =>
    first(
      () => may(state, actor, "archive_workflow", ofWorkflow(workflow)),
      () => takesEffect(state, actor, workflow),
    ),
  restore: (state: State, actor: Actor, workflow: Workflow): Answer =>
    first(
      () => may(state, actor, "restore_workflow", ofWorkflow(workflow)),
      () => {
        const content = contentOf(workflow, workflow.published ?? workflow.versions.length);
        return unless(!isBeyond(actor, content), "not_permitted");
      },
      () => takesEffect(state, actor, workflow),
    ),
  resume: (state: State, actor: Actor, workflow: Workflow): Answer =>
    first(
      () => may(state, actor, "resume_schedule", ofWorkflow(workflow)),
      () => (workflow.isPaused ? withinForLater(actor, workflow) : "ok"),
    ),
  rotate: (state: State, actor: Actor, workflow: Workflow): Answer =>
    first(
      () => may(state, actor, "rotate_trigger", ofWorkflow(workflow)),
      () => withinForLater(actor, workflow),
    ),
  offer: (state: State, actor: Actor, workflow: Workflow): Answer =>
    may(state, actor, "offer_workflow", ofWorkflow(workflow)),
  runVersion: (state: State, actor: Actor, workflow: Workflow, run: Run): Answer =>
    first(
      () => may(state, actor, "run_workflow", ofWorkflow(workflow)),
      () => unsaved(state, actor, run),
      () => within(actor, run),
    ),
  runStep: (state: State, actor: Actor, run: Run): Answer =>
    first(
      () => may(state, actor, "run_step", ofProject(run.project)),
      () => unsaved(state, actor, run),
    ),
  backfill: (state: State, actor: Actor, workflow: Workflow): Answer =>
    first(
      () => may(state, actor, "start_backfill", ofWorkflow(workflow)),
      () => unless(!isBeyond(actor, contentOf(workflow, workflow.published!)), "workflow_not_runnable"),
    ),
  retry: (state: State, actor: Actor, run: Run, next: Run): Answer =>
    first(
      () => may(state, actor, "retry_run", ofRun(run, "run_not_found")),
      () => unsaved(state, actor, next),
      () => within(actor, next),
      // Somebody unknown could have started it, and decide.
      () => unless(!run.isAnonymous || !next.content.asks, "workflow_not_runnable"),
    ),
  redeliver: (state: State, actor: Actor, workflow: Workflow): Answer =>
    first(
      () => may(state, actor, "redeliver_trigger_delivery", ofWorkflow(workflow)),
      () => {
        if (!has(state, actor, workflow.project, "run")) return "missing_scope";
        return unless(!isBeyond(actor, contentOf(workflow, workflow.published!)), "workflow_not_runnable");
      },
    ),
  readRun: (state: State, actor: Actor, run: Run): Answer =>
    may(state, actor, "get_run", ofRun(run, "run_not_found")),
  cancel: (state: State, actor: Actor, run: Run): Answer =>
    may(state, actor, "cancel_run", ofRun(run, "run_not_found")),
  readApproval: (state: State, actor: Actor, { run }: Approval): Answer =>
    may(state, actor, "get_approval", ofRun(run, "approval_not_found")),
  decide: (state: State, actor: Actor, approval: Approval, override: boolean): Answer =>
    first(
      () => may(state, actor, "decide_approval", ofRun(approval.run, "approval_not_found")),
      () => {
        const right = mayDecide(state, actor, approval);
        return unless(right === "ok" || (right === "override" && override), "approval_not_yours");
      },
    ),
  /** @param to the address of another person */
  delegate: (state: State, actor: Actor, approval: Approval, to: string): Answer =>
    first(
      () => may(state, actor, "delegate_approval", ofRun(approval.run, "approval_not_found")),
      () => unless(mayDecide(state, actor, approval) === "ok", "approval_not_yours"),
      () => unless(approval.seats.size > 0, "approval_not_yours"),
      () => {
        const other = { ...actor, kind: "session", owner: to, subject: to, isValid: true } as const;
        const isFree = ![...approval.seats.values()].includes(to) && isAlive(state, other);
        const mayTake = has(state, other, approval.run.project, "approve");
        const isOwn = approval.run.causes.has(to) || isOwnWork(to, approval.run);
        return unless(isFree && mayTake && !isOwn, "invalid_input");
      },
    ),
  decideReview: (state: State, actor: Actor, { workflow, version, by }: Review): Answer =>
    first(
      () => may(state, actor, "decide_review", { ...ofWorkflow(workflow), missing: "review_not_found" }),
      () => unless(by !== actor.subject && !wroteUnreviewed(actor, workflow, version), "review_not_yours"),
    ),
  withdraw: (state: State, actor: Actor, { workflow, by }: Review): Answer =>
    first(
      () => may(state, actor, "withdraw_review", { ...ofWorkflow(workflow), missing: "review_not_found" }),
      () => unless(by === actor.subject, "review_not_yours"),
    ),
  /** A key could publish without a review if it could end them. */
  requireReviews: (state: State, actor: Actor, project: string, isRequired: boolean): Answer =>
    first(
      () => may(state, actor, "update_project", ofProject(project)),
      () => unless(isRequired || actor.kind === "session" || !state.reviewed.has(project), "person_needed"),
    ),
  /** A key can't have what its creator has not. */
  createKey: (
    state: State,
    actor: Actor,
    { scopes, projects, limits }: Pick<Actor, "scopes" | "projects" | "limits">,
    workflows: ReadonlyMap<string, Workflow>,
  ): Answer =>
    first(
      () => may(state, actor, "create_api_key"),
      () => {
        const own = projects.filter((project) => scopesIn(state, actor, project).length > 0);
        const grantable = new Set(own.flatMap((project) => scopesIn(state, actor, project)));
        const area = limits.workflows ?? [];
        const isValid =
          own.length === projects.length &&
          scopes.every((scope) => grantable.has(scope)) &&
          (limits.workflows === undefined || scopes.every((scope) => WITHIN_WORKFLOWS.has(scope))) &&
          area.every((id) => {
            const { project } = workflows.get(id)!;
            return projects.includes(project) && sees(state, actor, { project, workflow: id });
          }) &&
          (limits.tools ?? []).every((name) => {
            const scope = SCOPE_OF.get(name)!;
            return scope === "read" || scopes.includes(scope);
          });
        return unless(isValid, "invalid_input");
      },
    ),
  /** Admins of the instance revoke everybody's keys; only the owner rotates one. */
  endKey: (state: State, actor: Actor, key: Actor, operation: "revoke_api_key" | "rotate_api_key"): Answer =>
    first(
      () => may(state, actor, operation),
      () => {
        const isAdmin = operation === "revoke_api_key" && has(state, actor, DEFAULT, "admin");
        return unless(key.owner === actor.owner || isAdmin, "api_key_not_found");
      },
    ),
};

/** What takes effect without a publication needs the scope `publish`. */
const takesEffect = (state: State, actor: Actor, { project, published }: Workflow): Answer =>
  unless(published === null || has(state, actor, project, "publish"), "missing_scope");
const unsaved = (state: State, actor: Actor, { isUnsaved, project }: Run): Answer =>
  unless(!isUnsaved || has(state, actor, project, "write"), "missing_scope");
/** For what makes later runs of the published version happen. */
const withinForLater = (actor: Actor, workflow: Workflow): Answer =>
  unless(!isBeyond(actor, contentOf(workflow, workflow.published!)), "not_permitted");
const within = (actor: Actor, { content }: Run): Answer =>
  unless(!isBeyond(actor, content), "workflow_not_runnable");

/** Whether the URL of a trigger, or of a wait for an event, is in the answer. */
export const showsTriggerUrl = (state: State, actor: Actor, { project }: Workflow, content: Content) =>
  has(state, actor, project, "write") &&
  (content.trigger === "signed" || (has(state, actor, project, "run") && !isBeyond(actor, content)));
export const showsEventUrl = (state: State, actor: Actor, { project }: Run): boolean =>
  has(state, actor, project, "run");

/**
 * Whether somebody may decide: not who caused the run, nor who wrote or published what takes part in it, unless another person has
 * published that since. With assignees only they may, and a signed-in admin in their place, unless they passed it on.
 */
export function mayDecide(
  state: State,
  actor: Actor,
  { run, seats }: Approval,
): "ok" | "override" | "not approve" | "not assigned" | "caused it" | "wrote it" {
  if (!has(state, actor, run.project, "approve")) return "not approve";
  const isAssigned = seats.size === 0 || [...seats.values()].includes(actor.owner);
  const isAdmin = actor.kind === "session" && has(state, actor, run.project, "admin");
  if (!isAssigned && (!isAdmin || seats.has(actor.owner))) return "not assigned";
  if (run.causes.has(actor.subject)) return "caused it";
  if (isOwnWork(actor.subject, run)) return "wrote it";
  return isAssigned ? "ok" : "override";
}

/** Whether somebody wrote or published a version, and nobody else has published it, or a newer one before it, since. */
const isOwnWork = (subject: string, { versions }: Run): boolean =>
  versions.some(({ workflow, version }) => {
    const known = workflow.reviews.filter((review) => review.version <= version);
    const seen = known.filter(({ by }) => by !== subject).map((review) => review.version);
    if (workflow.versions.slice(Math.max(0, ...seen), version).some(({ by }) => by === subject)) return true;
    return known.findLast((review) => review.version === version)?.by === subject;
  });

/**
 * Whether a person must ask another one to publish a version where the project requires reviews: every key, and who wrote a part of
 * it that no other person has published, signed in, since.
 */
export function needsReview(state: State, actor: Actor, workflow: Workflow, version: number): boolean {
  return (
    state.reviewed.has(workflow.project) &&
    (actor.kind === "key" || wroteUnreviewed(actor, workflow, version))
  );
}
function wroteUnreviewed(
  { subject }: Actor,
  { versions, reviews, published }: Workflow,
  version: number,
): boolean {
  const seen = reviews.filter(
    (review) => review.version <= version && review.isPersonal && review.by !== subject,
  );
  const live = published !== null && published <= version ? published : 0;
  const reviewed = Math.max(live, ...seen.map((review) => review.version));
  return versions.slice(reviewed, version).some(({ by }) => by === subject);
}
