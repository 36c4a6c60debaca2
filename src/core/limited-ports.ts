/** Each reader, limited to what a caller may see. */
import { projectOf } from "../../schemas/project.ts";
import { isVisible, type Visibility } from "./access.ts";
import type { RunRecord, StepRecord } from "./model.ts";
import type { Readers } from "./ports.ts";

export interface Found {
  project: string;
  /** Null for what belongs to no workflow. */
  workflowId?: string | null | undefined;
}

export const refOfRun = ({ project, workflowId }: Pick<RunRecord, "project" | "workflowId">): Found => ({
  project,
  workflowId,
});

/** The rules of one request. */
export interface Limits {
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

/** Those of the ids that `can` accepts, in order. */
async function filterIds(ids: readonly string[], can: (id: string) => Promise<boolean>): Promise<string[]> {
  const accepted: string[] = [];
  for (const id of ids) if (await can(id)) accepted.push(id);
  return accepted;
}

export function limitedWorkflows(read: Readers["workflows"], limits: Limits): Readers["workflows"] {
  const { canReadWorkflow: can, readable, listable } = limits;
  return {
    ...read,
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
    briefs: (ids) => read.briefs(ids, readable),
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
    source: async (id, version) => ((await can(id)) ? read.source(id, version) : null),
    versions: async (query) => ((await can(query.id)) ? read.versions(query) : []),
  };
}

export function limitedRuns(read: Readers["runs"], limits: Limits): Readers["runs"] {
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
    ...read,
    find,
    page: (query) => read.page({ ...query, filter: { ...query.filter, visibility: listable } }),
    count: (filter) => read.count({ ...filter, visibility: listable }),
    failuresByWorkflow: ({ filter, limit }) =>
      read.failuresByWorkflow({ filter: { ...filter, visibility: listable }, limit }),
    async latestByWorkflow(ids) {
      const latest = await read.latestByWorkflow(ids, listable.projects);
      return new Map([...latest].filter(([, run]) => isVisible(listable, refOfRun(run))));
    },
    getStatusSummaries: async (ids) => read.getStatusSummaries(await filterIds(ids, can)),
    steps: async (id, options) => ((await can(id)) ? readable(await read.steps(id, options)) : []),
    async step(ref) {
      const found = (await can(ref.runId)) ? await read.step(ref) : undefined;
      return found && (await readable([found]))[0];
    },
    items: async (step, from, limit) =>
      (await can(step.runId)) ? readable(await read.items(step, from, limit)) : [],
    hasExecutedItem: async (step) => (await can(step.runId)) && read.hasExecutedItem(step),
    lastAttempts: async (ref, limit) => ((await can(ref.runId)) ? read.lastAttempts(ref, limit) : []),
    lastAttemptsOfSteps: async (runId, stepIds, limit) =>
      (await can(runId)) ? read.lastAttemptsOfSteps(runId, stepIds, limit) : [],
    usage: async (id) => ((await can(id)) ? read.usage(id) : null),
    valueText: async (at, range) => ((await can(at.runId)) ? read.valueText(at, range) : undefined),
    output: async (ref) => ((await can(ref.runId)) ? read.output(ref) : null),
    outputJson: async (ref) => ((await can(ref.runId)) ? read.outputJson(ref) : null),
    itemOutputs: async (step) => ((await can(step.runId)) ? read.itemOutputs(step) : []),
    runOutput: async (id) => ((await can(id)) ? read.runOutput(id) : null),
    inputs: async (id) => ((await can(id)) ? read.inputs(id) : {}),
    state: async (id) => ((await can(id)) ? read.state(id) : null),
    trial: async (id) => ((await can(id)) ? read.trial(id) : null),
  };
}

export function limitedApprovals(
  { approvals, runs }: Pick<Readers, "approvals" | "runs">,
  limits: Limits,
): Readers["approvals"] {
  const { canReadRun: can, listable } = limits;
  const ofRun = async <T extends { runId: string }>(found: T | undefined): Promise<T | undefined> => {
    const run = found && (await runs.find(found.runId));
    return limits.checked(run, refOfRun) === undefined ? undefined : found;
  };
  return {
    ...approvals,
    find: async (id) => ofRun(await approvals.find(id)),
    findByStep: async (ref) => ofRun(await approvals.findByStep(ref)),
    decisionsOf: async (ref) => ((await can(ref.runId)) ? approvals.decisionsOf(ref) : []),
    page: (query) => approvals.page({ ...query, filter: { ...query.filter, visibility: listable } }),
    count: (filter) => approvals.count({ ...filter, visibility: listable }),
  };
}

export function limitedTriggers(
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
      ...deliveries,
      find: async (id) => readable(await deliveries.find(id)),
      ofRun: async (runId) => readable(await deliveries.ofRun(runId)),
      event: async (id) =>
        (await readable(await deliveries.find(id))) === undefined ? undefined : deliveries.event(id),
      page: async (query) =>
        (await can(query.filter.workflowId)) ? deliveries.page(query) : { items: [], next: null },
      count: async (filter) => ((await can(filter.workflowId)) ? deliveries.count(filter) : 0),
    },
  };
}

export function limitedSchedules(read: Readers["schedules"], limits: Limits): Readers["schedules"] {
  const { canReadWorkflow: can, listable } = limits;
  return {
    ...read,
    find: async (id) => ((await can(id)) ? read.find(id) : undefined),
    page: (query) => read.page({ ...query, filter: { ...query.filter, visibility: listable } }),
    count: (filter) => read.count({ ...filter, visibility: listable }),
  };
}

export function limitedReviews(read: Readers["reviews"], limits: Limits): Readers["reviews"] {
  const { canReadWorkflow: can, listable } = limits;
  return {
    find: async (id) =>
      limits.checked(await read.find(id), ({ project, workflowId }) => ({ project, workflowId })),
    findPending: async (id) => ((await can(id)) ? read.findPending(id) : undefined),
    page: (query) => read.page({ ...query, filter: { ...query.filter, visibility: listable } }),
    count: (filter) => read.count({ ...filter, visibility: listable }),
  };
}

export function limitedBackfills(read: Readers["backfills"], limits: Limits): Readers["backfills"] {
  const { canReadWorkflow, canReadRun, listable } = limits;
  const find = async (id: string) => limits.checked(await read.find(id), refOfRun);
  const can = async (id: string): Promise<boolean> => (await find(id)) !== undefined;
  return {
    ...read,
    find,
    page: (query) => read.page({ ...query, filter: { ...query.filter, visibility: listable } }),
    count: (filter) => read.count({ ...filter, visibility: listable }),
    runCounts: async (id) => ((await can(id)) ? read.runCounts(id) : {}),
    unfinishedRuns: async (id) => filterIds(await read.unfinishedRuns(id), canReadRun),
    slotRuns: async (workflow, times) =>
      (await canReadWorkflow(workflow.workflowId)) ? read.slotRuns(workflow, times) : new Map(),
  };
}

export function limitedSubscriptions(
  read: Readers["subscriptions"],
  limits: Limits,
): Readers["subscriptions"] {
  const { listable } = limits;
  return {
    ...read,
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

export function limitedExpectations(
  read: Readers["expectations"],
  { canReadWorkflow: can, listable }: Limits,
): Readers["expectations"] {
  return {
    ...read,
    find: async (id) => ((await can(id)) ? read.find(id) : undefined),
    overdue: (filter, limit) => read.overdue({ ...filter, visibility: listable }, limit),
  };
}

export function limitedProjects(
  read: Readers["projects"],
  { readable: { projects } }: Limits,
): Readers["projects"] {
  const can = (id: string): boolean => projects?.includes(id) !== false;
  return {
    ...read,
    find: async (id) => (can(id) ? read.find(id) : undefined),
    list: async () => (await read.list()).filter(({ id }) => can(id)),
    members: async (id) => (can(id) ? read.members(id) : []),
    grants: async (id) => (can(id) ? read.grants(id) : []),
  };
}

export function limitedChanges(
  read: Readers["workflowChanges"],
  { canReadWorkflow: can, readable: { projects } }: Limits,
): Readers["workflowChanges"] {
  return {
    async ofKey(key, since) {
      const activity = await read.ofKey(key, since);
      const ids = new Set(
        await filterIds([...new Set(activity.changed.map(({ workflowId }) => workflowId))], can),
      );
      return {
        ...activity,
        changed: activity.changed.filter(({ workflowId }) => ids.has(workflowId)),
        counts: activity.counts.filter(({ project }) => projects?.includes(project) !== false),
      };
    },
    ofWorkflows: async (ids, range) => read.ofWorkflows(new Set(await filterIds([...ids], can)), range),
    hasChangedAfter: async (id, entry) => (await can(id)) && read.hasChangedAfter(id, entry),
  };
}
