/**
 * The readers and writers of a request, limited to what its caller may see: what belongs to other projects is not found and
 * not listed, as if it did not exist. Operations get no others, so they can't forget the rule. The engine works on everything
 * (`unscoped`), because runs reach over projects: a run calls a workflow that another project offers.
 */
import type { Scope } from "../../schemas/actor.ts";
import { isVisible, scopesIn, type Visibility, visibilityOf } from "./access.ts";
import {
  refOfRun,
  type Limits,
  limitedWorkflows,
  limitedRuns,
  limitedApprovals,
  limitedTriggers,
  limitedSchedules,
  limitedReviews,
  limitedBackfills,
  limitedSubscriptions,
  limitedExpectations,
  limitedProjects,
  limitedChanges,
} from "./limited-ports.ts";
import type { Readers, Writers } from "./ports.ts";
import type { Principal } from "./principal.ts";
import { missingScope } from "./scope-refusal.ts";

/** What a request may do. */
interface RequestScope {
  principal: Principal;
  /** The name of the operation, for messages, and the scope that it needs. */
  operation: string;
  scope: Scope;
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
  if (limits === null) return read;
  return remember(read, {
    ...read,
    ...limited(read, limits),
    audit: limitedAudit(read.audit, request),
    workflowChanges: limitedChanges(read.workflowChanges, limits),
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
      lock: async (id) => limits.checked(await tx.backfills.lock(id), refOfRun),
    },
    subscriptions: { ...tx.subscriptions, ...found.subscriptions },
    expectations: { ...tx.expectations, ...found.expectations },
  });
}

/** Remembers what the limited ports are made of, as a whole and each of them. */
function remember<T extends object>(original: T, made: T): T {
  originals.set(made, original);
  for (const name of Object.keys(made) as (keyof T)[]) {
    const [port, of] = [made[name], original[name]];
    if (port !== of && typeof port === "object" && port !== null && of) originals.set(port, of);
  }
  return made;
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
      if (!isVisible(readable, ref)) return undefined;
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
      const can = run !== undefined && isVisible(readable, refOfRun(run));
      runs.set(id, can);
      return can;
    },
  };
}

type Limited = Pick<
  Readers,
  | "workflows"
  | "runs"
  | "approvals"
  | "schedules"
  | "workflowStates"
  | "events"
  | "triggers"
  | "triggerDeliveries"
  | "projects"
  | "reviews"
  | "backfills"
  | "subscriptions"
  | "expectations"
>;

function limited(read: Limited, limits: Limits): Limited {
  return {
    workflows: limitedWorkflows(read.workflows, limits),
    runs: limitedRuns(read.runs, limits),
    approvals: limitedApprovals(read, limits),
    schedules: limitedSchedules(read.schedules, limits),
    projects: limitedProjects(read.projects, limits),
    reviews: limitedReviews(read.reviews, limits),
    backfills: limitedBackfills(read.backfills, limits),
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

function limitedAudit(read: Readers["audit"], { principal }: RequestScope): Readers["audit"] {
  const visible = visibilityOf(principal.access, "admin");
  return {
    page: (query) => read.page({ ...query, filter: { ...query.filter, visible } }),
    pageAfter: (query) => read.pageAfter({ ...query, filter: { ...query.filter, visible } }),
    count: (filter) => read.count({ ...filter, visible }),
  };
}
