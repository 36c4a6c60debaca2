/**
 * The readers and writers of a request, limited to what its caller may see: what belongs to other projects is not found and
 * not listed, as if it did not exist. Operations get no others, so they can't forget the rule. The engine works on everything
 * (`unscoped`), because runs reach over projects: a run calls a workflow that another project offers.
 */
import type { Scope } from "../../schemas/actor.ts";
import { projectOf } from "../../schemas/project.ts";
import { type EventUrlMask, maskedPart, maskedScan } from "./event-url-mask.ts";
import type { BackfillRecord } from "./backfill-ports.ts";
import type { BacktestRecord } from "./backtest-ports.ts";
import type { RunningBulkAction } from "./bulk-action-ports.ts";
import { isVisible, scopesIn, type Visibility, visibilityOf } from "./access.ts";
import type { InterruptionRecord } from "./interruption-ports.ts";
import type { RunRecord, StepRecord } from "./model.ts";
import type { Principal, Readers, Writers } from "./ports.ts";
import { missingScope } from "./scope-refusal.ts";
import { passedOn, type UNLIMITED_PORTS } from "./unlimited-reads.ts";

/** What a request may do. */
interface RequestScope {
  principal: Principal;
  /** The name of the operation, for messages, and the scope that it needs. */
  operation: string;
  scope: Scope;
  /** What hides event URLs from the principal; undefined for nothing. One for each request, because it looks runs up. */
  mask: EventUrlMask | undefined;
}

/** What the limited readers are made of, by the limited ones. */
const originals = new WeakMap<object, object>();

/**
 * The readers or writers without the limits of their caller: for the engine, and for rules that reach over projects. Use it
 * only for what follows from something that the limited ones have found.
 */
export const unscoped = <T extends object>(ports: T): T => (originals.get(ports) as T | undefined) ?? ports;

/** @returns the same readers for a caller who may see everything */
export function scopedReaders(read: Readers, request: RequestScope): Readers {
  const limits = limitsOf(read, request);
  const { mask } = request;
  if (limits === null && mask === undefined) return read;
  const made =
    limits === null
      ? read
      : {
          ...read,
          ...limited(read, limits),
          audit: limitedAudit(read.audit, request),
          workflowChanges: limitedChanges(read.workflowChanges, limits),
        };
  if (mask === undefined) return remember(read, made);
  // Pages of a text can end within a URL, and the values of a scan are compared. All others are masked as a whole, with the answer.
  return remember(read, {
    ...made,
    runs: {
      ...made.runs,
      valueText: maskedPart(made.runs.valueText, mask),
      scan: maskedScan(made.runs.scan, mask),
    },
  });
}

/** @returns the same writers for a caller who may see everything */
export function scopedWriters(tx: Writers, request: RequestScope): Writers {
  const limits = limitsOf(tx, request);
  if (limits === null) return tx;
  const found = limited(tx, limits);
  return remember(tx, {
    ...tx,
    ...found,
    workflows: { ...tx.workflows, ...found.workflows },
    runs: {
      ...tx.runs,
      ...found.runs,
      lock: async (id) => limits.checked(await tx.runs.lock(id), refOfRun),
    },
    approvals: { ...tx.approvals, ...found.approvals },
    interruptions: {
      ...tx.interruptions,
      ...found.interruptions,
      lock: async (id) => limits.checked(await tx.interruptions.lock(id), refOfInterruption),
    },
    schedules: { ...tx.schedules, ...found.schedules },
    workflowStates: { ...tx.workflowStates, ...found.workflowStates },
    events: { ...tx.events, ...found.events },
    triggers: { ...tx.triggers, ...found.triggers },
    triggerDeliveries: { ...tx.triggerDeliveries, ...found.triggerDeliveries },
    projects: { ...tx.projects, ...found.projects },
    reviews: { ...tx.reviews, ...found.reviews },
    backfills: {
      ...tx.backfills,
      ...found.backfills,
      lock: async (id) => limits.checked(await tx.backfills.lock(id), refOfBackfill),
    },
    backtests: {
      ...tx.backtests,
      ...found.backtests,
      lock: async (id) => limits.checked(await tx.backtests.lock(id), refOfBacktest),
    },
    bulkActions: {
      ...tx.bulkActions,
      ...found.bulkActions,
      lock: async (id) => limits.checked(await tx.bulkActions.lock(id), refOfBulkAction),
    },
    subscriptions: { ...tx.subscriptions, ...found.subscriptions },
    expectations: { ...tx.expectations, ...found.expectations },
  });
}

/** Remembers what the limited ports are made of, as a whole and each of them. */
function remember<T extends object>(original: T, made: T): T {
  originals.set(made, original);
  // Whatever differs is a port, and so an object.
  for (const name of Object.keys(made) as (keyof T)[])
    if (made[name] !== original[name]) originals.set(made[name] as object, original[name] as object);
  return made;
}

interface Found {
  project: string;
  /** Null for what belongs to no workflow. */
  workflowId?: string | null | undefined;
  /** Of what has values of runs of another workflow in the same project: that workflow. */
  sourceWorkflowId?: string | undefined;
}

const refOfRun = ({ project, workflowId, replay }: RunRecord): Found => ({
  project,
  workflowId,
  sourceWorkflowId: replay?.workflowId,
});

const refOfBackfill = ({ project, workflowId }: BackfillRecord): Found => ({ project, workflowId });

const refOfBacktest = ({ project, workflowId, sourceWorkflowId }: BacktestRecord): Found => ({
  project,
  workflowId,
  sourceWorkflowId,
});

const refOfBulkAction = ({ project, workflowId }: RunningBulkAction): Found => ({ project, workflowId });

const refOfInterruption = ({ project, workflowId }: InterruptionRecord): Found => ({ project, workflowId });

const canFind = (visibility: Visibility | null, { project, workflowId, sourceWorkflowId }: Found): boolean =>
  isVisible(visibility, { project, workflowId }) &&
  isVisible(visibility, { project, workflowId: sourceWorkflowId });

/** The rules of one request. */
interface Limits {
  /** What the caller can find. */
  readable: Visibility;
  /** What the caller can find with the scope of the operation: what it can list. */
  listable: Visibility;
  /**
   * The value, if the caller may see it.
   * @throws AppError missing_scope when the caller may see it, but not do this with it
   */
  checked<T>(value: T | undefined, refOf: (value: T) => Found): T | undefined;
  canReadWorkflow(id: string): Promise<boolean>;
  canReadRun(id: string): Promise<boolean>;
}

function limitsOf(
  read: Pick<Readers, "workflows" | "runs">,
  { principal, operation, scope }: RequestScope,
): Limits | null {
  const { access } = principal;
  const readable = visibilityOf(access, "read");
  const listable = visibilityOf(access, scope);
  if (readable === null && listable === null) return null;
  const all: Visibility = { projects: null, workflows: access.keyLimits?.workflows ?? null };
  const workflows = new Map<string, boolean>();
  const runs = new Map<string, boolean>();
  return {
    readable: readable ?? all,
    listable: listable ?? all,
    checked(value, refOf) {
      if (value === undefined) return undefined;
      const ref = refOf(value);
      if (!canFind(readable, ref)) return undefined;
      if (!scopesIn(access, ref.project).has(scope))
        throw missingScope(principal, { subject: operation, scope, project: ref.project });
      return value;
    },
    async canReadWorkflow(id) {
      const known = workflows.get(id);
      if (known !== undefined) return known;
      const project = await read.workflows.projectOf(id);
      const can = project !== undefined && isVisible(readable, { project, workflowId: id });
      workflows.set(id, can);
      return can;
    },
    async canReadRun(id) {
      const known = runs.get(id);
      if (known !== undefined) return known;
      const run = await read.runs.find(id);
      const can = run !== undefined && canFind(readable, refOfRun(run));
      runs.set(id, can);
      return can;
    },
  };
}

/** What writers can read too; the others are limited for readers only. */
type Limited = Omit<Readers, keyof typeof UNLIMITED_PORTS | "audit" | "workflowChanges">;

function limited(read: Limited, limits: Limits): Limited {
  return {
    workflows: limitedWorkflows(read.workflows, limits),
    runs: limitedRuns(read.runs, limits),
    approvals: limitedApprovals(read, limits),
    interruptions: limitedInterruptions(read.interruptions, limits),
    schedules: limitedSchedules(read.schedules, limits),
    projects: limitedProjects(read.projects, limits),
    reviews: limitedReviews(read.reviews, limits),
    backfills: limitedBackfills(read.backfills, limits),
    backtests: limitedBacktests(read.backtests, limits),
    bulkActions: limitedBulkActions(read.bulkActions, limits),
    subscriptions: limitedSubscriptions(read.subscriptions, limits),
    expectations: limitedExpectations(read.expectations, limits),
    workflowStates: {
      find: async (id) => ((await limits.canReadWorkflow(id)) ? read.workflowStates.find(id) : undefined),
      history: async (query) =>
        (await limits.canReadWorkflow(query.workflowId)) ? read.workflowStates.history(query) : [],
      countHistory: async (id) =>
        (await limits.canReadWorkflow(id)) ? read.workflowStates.countHistory(id) : 0,
    },
    ...limitedTriggers(read, limits),
    events: {
      find: async (ref) => ((await limits.canReadRun(ref.runId)) ? read.events.find(ref) : undefined),
    },
  };
}

/** Those of the ids that `can` accepts, in order. */
async function filterIds(ids: readonly string[], can: (id: string) => Promise<boolean>): Promise<string[]> {
  const accepted: string[] = [];
  for (const id of ids) if (await can(id)) accepted.push(id);
  return accepted;
}

function limitedWorkflows(read: Readers["workflows"], limits: Limits): Readers["workflows"] {
  const { canReadWorkflow: can, readable, listable } = limits;
  return {
    ...passedOn(read, "workflows"),
    find: async (id) =>
      // Looked up first, so that a workflow of another project takes as long as one that does not exist.
      (await can(id))
        ? limits.checked(await read.find(id), (found) => ({ project: projectOf(found), workflowId: id }))
        : undefined,
    page: (query) => read.page({ ...query, filter: { ...query.filter, visibility: listable } }),
    count: (filter) => read.count({ ...filter, visibility: listable }),
    projectOf: async (id) => ((await can(id)) ? read.projectOf(id) : undefined),
    revision: () => read.revision(listable.projects),
    currentVersions: async (ids) => read.currentVersions(await filterIds(ids, can)),
    liveVersions: async (ids) => read.liveVersions(await filterIds(ids, can)),
    recentIds: (limit) => read.recentIds(limit, readable),
    callers: async (id, options) => filterIds(await read.callers(id, options), can),
    async liveCallersOfDrafts(project, limit) {
      const found = await read.liveCallersOfDrafts(project, limit);
      const callers = new Set(await filterIds([...new Set(found.map(({ caller }) => caller))], can));
      return found.filter(({ caller }) => callers.has(caller));
    },
    exposureRequest: async (id) => ((await can(id)) ? read.exposureRequest(id) : undefined),
    exposureConsent: async (id) => ((await can(id)) ? read.exposureConsent(id) : null),
    consentedExposures: () => read.consentedExposures(listable),
    findVersion: async (id, version) => ((await can(id)) ? read.findVersion(id, version) : undefined),
    versionText: async (id, version) => ((await can(id)) ? read.versionText(id, version) : null),
    versions: async (query) => ((await can(query.id)) ? read.versions(query) : []),
  };
}

function limitedRuns(read: Readers["runs"], limits: Limits): Readers["runs"] {
  const { canReadRun: can, listable } = limits;
  const find = async (id: string): Promise<RunRecord | undefined> =>
    limits.checked(await read.find(id), refOfRun);
  /** Without the ids of runs of workflows that other projects offer. */
  const readable = async (steps: readonly StepRecord[]): Promise<StepRecord[]> => {
    const shown: StepRecord[] = [];
    for (const step of steps)
      shown.push(step.childRun === null || (await can(step.childRun)) ? step : { ...step, childRun: null });
    return shown;
  };
  return {
    ...passedOn(read, "runs"),
    find,
    page: (query) => read.page({ ...query, filter: { ...query.filter, visibility: listable } }),
    count: (filter) => read.count({ ...filter, visibility: listable }),
    scan: (query) => read.scan({ ...query, filter: { ...query.filter, visibility: listable } }),
    async latestByWorkflow(ids) {
      const latest = await read.latestByWorkflow(ids, listable.projects);
      return new Map([...latest].filter(([, run]) => canFind(listable, refOfRun(run))));
    },
    getStatusSummaries: async (ids) => read.getStatusSummaries(await filterIds(ids, can)),
    steps: async (id, options) => ((await can(id)) ? readable(await read.steps(id, options)) : []),
    async step(ref) {
      const found = (await can(ref.runId)) ? await read.step(ref) : undefined;
      return found && (await readable([found]))[0];
    },
    items: async (step, from, limit) =>
      (await can(step.runId)) ? readable(await read.items(step, from, limit)) : [],
    failedItems: async (step, from, limit) =>
      (await can(step.runId)) ? readable(await read.failedItems(step, from, limit)) : [],
    itemReuse: async (id) => ((await can(id)) ? read.itemReuse(id) : new Map()),
    executedItems: async (step, limit) => ((await can(step.runId)) ? read.executedItems(step, limit) : []),
    lastAttempts: async (ref, limit) => ((await can(ref.runId)) ? read.lastAttempts(ref, limit) : []),
    usage: async (id) => ((await can(id)) ? read.usage(id) : null),
    runningSteps: async (id) => ((await can(id)) ? read.runningSteps(id) : []),
    rateWaits: async (id, now) => ((await can(id)) ? read.rateWaits(id, now) : new Map()),
    attemptsDue: async (id) => ((await can(id)) ? read.attemptsDue(id) : new Map()),
    valueText: async (at, range) => ((await can(at.runId)) ? read.valueText(at, range) : undefined),
    output: async (ref) => ((await can(ref.runId)) ? read.output(ref) : null),
    outputJson: async (ref) => ((await can(ref.runId)) ? read.outputJson(ref) : null),
    itemOutputs: async (step) => ((await can(step.runId)) ? read.itemOutputs(step) : []),
    runOutput: async (id) => ((await can(id)) ? read.runOutput(id) : null),
    inputs: async (id) => ((await can(id)) ? read.inputs(id) : {}),
    state: async (id) => ((await can(id)) ? read.state(id) : null),
    trial: async (id) => ((await can(id)) ? read.trial(id) : null),
    facts: async (id) => ((await can(id)) ? read.facts(id) : null),
    itemChunk: async (step, chunk) => ((await can(step.runId)) ? read.itemChunk(step, chunk) : []),
  };
}

function limitedApprovals(
  { approvals, runs }: Pick<Readers, "approvals" | "runs">,
  limits: Limits,
): Readers["approvals"] {
  const { canReadRun: can, listable } = limits;
  const ofRun = async <T extends { runId: string }>(found: T | undefined): Promise<T | undefined> => {
    const run = found && (await runs.find(found.runId));
    return limits.checked(run, refOfRun) === undefined ? undefined : found;
  };
  return {
    find: async (id) => ofRun(await approvals.find(id)),
    findByStep: async (ref) => ofRun(await approvals.findByStep(ref)),
    decisionsOf: async (ref) => ((await can(ref.runId)) ? approvals.decisionsOf(ref) : []),
    page: (query) => approvals.page({ ...query, filter: { ...query.filter, visibility: listable } }),
    count: (filter) => approvals.count({ ...filter, visibility: listable }),
  };
}

function limitedInterruptions(read: Readers["interruptions"], limits: Limits): Readers["interruptions"] {
  const { canReadRun: can, listable } = limits;
  const find = async (id: string) => limits.checked(await read.find(id), refOfInterruption);
  return {
    ...passedOn(read, "interruptions"),
    find,
    latest: async (ref) => ((await can(ref.runId)) ? read.latest(ref) : undefined),
    ofKey: async (key) =>
      (await read.ofKey(key)).filter((one) => canFind(limits.readable, refOfInterruption(one))),
    output: async (id) => ((await find(id)) === undefined ? null : read.output(id)),
    page: (query) => read.page({ ...query, filter: { ...query.filter, visibility: listable } }),
    count: (filter) => read.count({ ...filter, visibility: listable }),
  };
}

function limitedTriggers(
  { triggers, triggerDeliveries: deliveries }: Pick<Readers, "triggers" | "triggerDeliveries">,
  { canReadWorkflow: can }: Limits,
): Pick<Readers, "triggers" | "triggerDeliveries"> {
  const readable = async <T extends { workflowId: string }>(found: T | undefined): Promise<T | undefined> =>
    found !== undefined && (await can(found.workflowId)) ? found : undefined;
  return {
    triggers: {
      find: async (id) => readable(await triggers.find(id)),
      ofWorkflow: async (id) => ((await can(id)) ? triggers.ofWorkflow(id) : []),
    },
    triggerDeliveries: {
      ...passedOn(deliveries, "triggerDeliveries"),
      find: async (id) => readable(await deliveries.find(id)),
      event: async (id) =>
        (await readable(await deliveries.find(id))) === undefined ? undefined : deliveries.event(id),
      page: async (query) =>
        (await can(query.filter.workflowId)) ? deliveries.page(query) : { items: [], next: null },
      count: async (filter) => ((await can(filter.workflowId)) ? deliveries.count(filter) : 0),
    },
  };
}

function limitedSchedules(read: Readers["schedules"], limits: Limits): Readers["schedules"] {
  const { canReadWorkflow: can, listable } = limits;
  return {
    ...passedOn(read, "schedules"),
    find: async (id) => ((await can(id)) ? read.find(id) : undefined),
    page: (query) => read.page({ ...query, filter: { ...query.filter, visibility: listable } }),
    count: (filter) => read.count({ ...filter, visibility: listable }),
  };
}

function limitedReviews(read: Readers["reviews"], limits: Limits): Readers["reviews"] {
  const { canReadWorkflow: can, listable } = limits;
  return {
    find: async (id) =>
      limits.checked(await read.find(id), ({ project, workflowId }) => ({ project, workflowId })),
    findPending: async (id) => ((await can(id)) ? read.findPending(id) : undefined),
    page: (query) => read.page({ ...query, filter: { ...query.filter, visibility: listable } }),
    count: (filter) => read.count({ ...filter, visibility: listable }),
  };
}

function limitedBackfills(read: Readers["backfills"], limits: Limits): Readers["backfills"] {
  const { canReadWorkflow, canReadRun, listable } = limits;
  const find = async (id: string) => limits.checked(await read.find(id), refOfBackfill);
  const can = async (id: string): Promise<boolean> => (await find(id)) !== undefined;
  return {
    ...passedOn(read, "backfills"),
    find,
    page: (query) => read.page({ ...query, filter: { ...query.filter, visibility: listable } }),
    count: (filter) => read.count({ ...filter, visibility: listable }),
    runCounts: async (id) => ((await can(id)) ? read.runCounts(id) : {}),
    unfinishedRuns: async (id) => filterIds(await read.unfinishedRuns(id), canReadRun),
    slotRuns: async (workflow, times) =>
      (await canReadWorkflow(workflow.workflowId)) ? read.slotRuns(workflow, times) : new Map(),
  };
}

function limitedBacktests(read: Readers["backtests"], limits: Limits): Readers["backtests"] {
  const { listable } = limits;
  const found = new Map<string, boolean>();
  const find = async (id: string) => limits.checked(await read.find(id), refOfBacktest);
  // Remembered, because a caller who waits asks again and again, and what the rule compares never changes.
  const can = async (id: string): Promise<boolean> => {
    const known = found.get(id) ?? (await find(id)) !== undefined;
    found.set(id, known);
    return known;
  };
  return {
    ...passedOn(read, "backtests"),
    find,
    page: (query) => read.page({ ...query, filter: { ...query.filter, visibility: listable } }),
    count: (filter) => read.count({ ...filter, visibility: listable }),
    status: async (id) => ((await can(id)) ? read.status(id) : undefined),
    resultCounts: async (id) => ((await can(id)) ? read.resultCounts(id) : {}),
    runs: async (id, options) => ((await can(id)) ? read.runs(id, options) : []),
    open: async (id) => ((await can(id)) ? read.open(id) : []),
    next: async (id) => ((await can(id)) ? read.next(id) : undefined),
  };
}

function limitedBulkActions(read: Readers["bulkActions"], limits: Limits): Readers["bulkActions"] {
  const { listable } = limits;
  const find = async (id: string) => limits.checked(await read.find(id), refOfBulkAction);
  const can = async (id: string): Promise<boolean> => (await find(id)) !== undefined;
  return {
    ...passedOn(read, "bulkActions"),
    find,
    page: (query) => read.page({ ...query, filter: { ...query.filter, visibility: listable } }),
    count: (filter) => read.count({ ...filter, visibility: listable }),
    status: async (id) => ((await can(id)) ? read.status(id) : undefined),
    resultCounts: async (id) => ((await can(id)) ? read.resultCounts(id) : {}),
    skipped: async (id) => ((await can(id)) ? read.skipped(id) : []),
    retryCounts: async (id) => ((await can(id)) ? read.retryCounts(id) : {}),
    runs: async (id, options) => ((await can(id)) ? read.runs(id, options) : []),
    unfinishedRetries: async (id) => ((await can(id)) ? read.unfinishedRetries(id) : []),
    next: async (id) => ((await can(id)) ? read.next(id) : undefined),
  };
}

function limitedSubscriptions(read: Readers["subscriptions"], limits: Limits): Readers["subscriptions"] {
  const { listable } = limits;
  return {
    ...passedOn(read, "subscriptions"),
    // Null: they belong to no workflow, so keys that are limited to workflows find none.
    find: async (id) => limits.checked(await read.find(id), ({ project }) => ({ project, workflowId: null })),
    findDelivery: async (id) =>
      limits.checked(await read.findDelivery(id), ({ project }) => ({ project, workflowId: null })),
    page: (query) => read.page({ ...query, filter: { ...query.filter, visibility: listable } }),
    count: (filter) => read.count({ ...filter, visibility: listable }),
    deliveries: (query) => read.deliveries({ ...query, filter: { ...query.filter, visibility: listable } }),
    countAll: (filter) => read.countAll({ ...filter, visibility: listable }),
  };
}

function limitedExpectations(
  read: Readers["expectations"],
  { canReadWorkflow: can, listable }: Limits,
): Readers["expectations"] {
  return {
    ...passedOn(read, "expectations"),
    find: async (id) => ((await can(id)) ? read.find(id) : undefined),
    overdue: (filter, limit) => read.overdue({ ...filter, visibility: listable }, limit),
  };
}

function limitedProjects(read: Readers["projects"], { readable: { projects } }: Limits): Readers["projects"] {
  const can = (id: string): boolean => projects?.includes(id) !== false;
  return {
    ...passedOn(read, "projects"),
    find: async (id) => (can(id) ? read.find(id) : undefined),
    list: async () => (await read.list()).filter(({ id }) => can(id)),
    members: async (id) => (can(id) ? read.members(id) : []),
    grants: async (id) => (can(id) ? read.grants(id) : []),
  };
}

function limitedChanges(
  read: Readers["workflowChanges"],
  { canReadWorkflow: can, readable: { projects } }: Limits,
): Readers["workflowChanges"] {
  const isInProject = ({ project }: { project: string }): boolean => projects?.includes(project) !== false;
  return {
    ...passedOn(read, "workflowChanges"),
    async ofKey(key, since) {
      const activity = await read.ofKey(key, since);
      const ids = [...activity.changed, ...activity.rotations].map(({ workflowId }) => workflowId);
      const readable = new Set(await filterIds([...new Set(ids)], can));
      const isReadable = ({ workflowId }: { workflowId: string }): boolean => readable.has(workflowId);
      const hidden = [
        ...activity.changed.filter((one) => !isReadable(one)),
        ...activity.rotations.filter((one) => !isReadable(one)).map(({ client }) => ({ client, count: 1 })),
        ...[...activity.subscriptions, ...activity.operations].filter((one) => !isInProject(one)),
      ];
      return {
        ...activity,
        changed: activity.changed.filter(isReadable),
        rotations: activity.rotations.filter(isReadable),
        subscriptions: activity.subscriptions.filter(isInProject),
        operations: activity.operations.filter(isInProject),
        unseen: hidden.map(({ client, count }) => ({ client, count })),
      };
    },
    ofWorkflows: async (ids, range) => read.ofWorkflows(new Set(await filterIds([...ids], can)), range),
    hasChangedAfter: async (id, entry) => (await can(id)) && read.hasChangedAfter(id, entry),
  };
}

function limitedAudit(read: Readers["audit"], { principal }: RequestScope): Readers["audit"] {
  const visible = visibilityOf(principal.access, "admin");
  return {
    page: (query) => read.page({ ...query, filter: { ...query.filter, visible } }),
    pageAfter: (query) => read.pageAfter({ ...query, filter: { ...query.filter, visible } }),
    count: (filter) => read.count({ ...filter, visible }),
  };
}
