/** Applies the tables of the model: what a request is about, and the conditions that the rules name. */
import {
  FOR_PEOPLE,
  has,
  isOwnRun,
  mayDecide,
  NEEDS,
  OF_INSTANCE,
  RULES,
  scopesIn,
  WITHIN_WORKFLOWS,
  words,
  wroteUnreviewed,
} from "./model.ts";
import { isAlive, subjectOf } from "./people.ts";
import {
  type About,
  type Actor,
  type Case,
  type Content,
  DEFAULT,
  type Run,
  type Scope,
  type State,
  type Workflow,
} from "./state.ts";

/** `ok`, or the code of the refusal. */
export type Answer = string;

/** What a request is about. `workflow` is undefined for a project, and null for what belongs to none of its workflows. */
interface Thing {
  project: string | undefined;
  workflow?: string | null;
}
const ofRun = (run?: Run): Thing => ({ project: run?.project, workflow: run?.workflow?.id ?? null });
const ofWorkflow = (one?: Workflow): Thing => ({ project: one?.project, ...(one && { workflow: one.id }) });
const ABOUT: Readonly<Record<About, (it: Case) => Thing>> = {
  any: (): Thing => ({ project: undefined }),
  list: ({ project }: Case): Thing => ({ project }),
  project: ({ project }: Case): Thing => ({ project }),
  workflow: ({ workflow }: Case): Thing => ofWorkflow(workflow),
  run: ({ run }: Case): Thing => ofRun(run),
  bulk_action: ({ bulkAction: one }: Case): Thing => ({
    project: one?.project,
    workflow: one?.workflow?.id ?? null,
  }),
  interruption: ({ interruption }: Case): Thing => ofRun(interruption?.run),
  approval: ({ approval }: Case): Thing => ofRun(approval?.run),
  review: ({ review }: Case): Thing => ofWorkflow(review?.workflow),
  subscription: ({ project }: Case): Thing => ({ project, workflow: null }),
  delivery: ({ project }: Case): Thing => ({ project, workflow: null }),
};
/** Every operation of the model, with its scope and what it is about. */
export const OPERATIONS: ReadonlyMap<string, { scope: Scope; about: About }> = new Map(
  Object.entries(NEEDS).flatMap(([scope, byThing]) =>
    Object.entries(byThing).flatMap(([about, names]) =>
      words(names).map((name) => [name, { scope: scope as Scope, about: about as About }]),
    ),
  ),
);

export const sees = (state: State, actor: Actor, { project, workflow }: Thing): boolean =>
  has(state, actor, project!, "read") &&
  (workflow === undefined || actor.limits.workflows?.some((id) => id === workflow) !== false);
export const seesRun = (state: State, actor: Actor, run: Run): boolean => sees(state, actor, ofRun(run));

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

/** The answer to a request. */
export function answerTo(state: State, actor: Actor, operation: string, it: Case = {}): Answer {
  const answer = may(state, actor, operation, it);
  if (answer !== "ok" || RULES[operation] === undefined) return answer;
  for (const rule of RULES[operation].split(",")) {
    const [refusal, , condition] = words(rule);
    if (!CONDITIONS[condition!]!(state, actor, it)) return refusal!;
  }
  return "ok";
}

const liveOf = ({ published, versions }: Workflow): Content =>
  versions[(published ?? versions.length) - 1]!.content;
/** A key with limits starts nothing that uses other databases, and makes nothing happen later that does. */
const isWithin = ({ limits: { databases } }: Actor, { usesDatabase }: Content): boolean =>
  !usesDatabase || databases?.includes("depot") !== false;
const isAdmin = (state: State, actor: Actor): boolean => has(state, actor, DEFAULT, "admin");

type Condition = (state: State, actor: Actor, it: Case) => boolean;
const CONDITIONS: Readonly<Record<string, Condition>> = {
  changesNothingLive: (state, actor, { workflow, isDraft }) =>
    isDraft === true || workflow!.published === null || has(state, actor, workflow!.project, "publish"),
  isLiveWithinKey: (_, actor, { workflow }) => isWithin(actor, liveOf(workflow!)),
  // What is live already is checked no more, except for the limits of the key: to publish it is to review it.
  mayGoLive: (_, actor, { workflow, version }) => {
    const content = workflow!.versions[version! - 1]!.content;
    if (workflow!.published === version) return true;
    return isWithin(actor, content) && !(content.asks && content.trigger === "unsigned");
  },
  mayStayLive: (_, actor, { workflow, version }) =>
    workflow!.published !== version || isWithin(actor, liveOf(workflow!)),
  mayResume: (_, actor, { workflow }) => !workflow!.isPaused || isWithin(actor, liveOf(workflow!)),
  canRunWorkflow: (state, actor, { workflow }) => has(state, actor, workflow!.project, "run"),
  seesTarget: (state, actor, { to }) => has(state, actor, to!, "read"),
  administersTarget: (state, actor, { to }) => has(state, actor, to!, "admin"),
  canWriteUnsaved: (state, actor, { run, next = run }) =>
    !next!.isUnsaved || has(state, actor, next!.project, "write"),
  isWithinKey: (_, actor, { run, next = run }) => isWithin(actor, next!.content),
  seesOtherRun: (state, actor, { next }) => seesRun(state, actor, next!),
  seesWhereItStarts: (state, actor, { next }) => seesRun(state, actor, next!),
  canRunWhereItStarts: (state, actor, { next }) => has(state, actor, next!.project, "run"),
  // Somebody unknown could have started it, and decide.
  isDecidable: (_, __, { run, next }) => !run!.isAnonymous || !next!.content.asks,
  seesWhereItStarted: (state, actor, { startedIn }) => has(state, actor, startedIn!, "read"),
  canRunWhereItStarted: (state, actor, { startedIn }) => has(state, actor, startedIn!, "run"),
  hasRunsToCompare: (_, __, { hasRuns }) => hasRuns === true,
  isDatabaseWithinKey: (_, { limits }, { database }) => limits.databases?.includes(database!) !== false,
  mayDecideNow: (state, actor, { approval, override }) =>
    (override === true ? ["ok", "override"] : ["ok"]).includes(mayDecide(state, actor, approval!)),
  mayPassOn: (state, actor, { approval }) =>
    mayDecide(state, actor, approval!, "delegate_approval") === "ok" &&
    [...approval!.seats.values()].includes(actor.owner),
  mayTakeOver,
  mayReview: (_, actor, { review }) =>
    review!.by !== actor.subject && !wroteUnreviewed(actor, review!.workflow, review!.version),
  asked: (_, { subject }, { review }) => review!.by === subject,
  keepsReviews: ({ reviewed }, { kind }, { project, requiresReview }) =>
    requiresReview !== false || kind === "session" || !reviewed.has(project!),
  mayGive,
  isOwner: (_, actor, { key }) => key!.owner === actor.owner,
  isOwnerOrAdmin: (state, actor, { key }) => key!.owner === actor.owner || isAdmin(state, actor),
  isAdminForEveryone: (state, actor, { everyone }) => everyone !== true || isAdmin(state, actor),
  isSelfOrAdmin: (state, actor, { person = actor.owner }) => person === actor.owner || isAdmin(state, actor),
  mayStandIn,
};

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
