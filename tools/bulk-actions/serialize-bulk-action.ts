/** Bulk actions as the API returns them. */
import type {
  BulkAction,
  BulkActionPlan,
  BulkActionRun,
  BulkActionSummary,
  SkippedRuns,
} from "../../schemas/bulk-action.ts";
import { projectField } from "../../schemas/project.ts";
import type { BulkActionRecord, BulkRunRecord, RunningBulkAction } from "../../src/core/bulk-action-ports.ts";
import { AppError } from "../../src/core/errors.ts";
import type { Readers } from "../../src/core/ports.ts";
import { addUpSkipped } from "../../src/core/skipped-runs.ts";
import type { ToolContext } from "../../src/core/tool.ts";

/** Number of versions, and of named runs, that are shown over MCP, where a model reads all of it. */
const MCP_SHOWN_PLANS = 5;
const MCP_SHOWN_RUNS = 2;
/** Number of steps with effects that a text names. */
const NAMED_EFFECTS = 5;

/** @throws AppError bulk_action_not_found */
export async function findBulkAction(
  read: Pick<Readers, "bulkActions">,
  id: string,
): Promise<BulkActionRecord> {
  const found = await read.bulkActions.find(id);
  if (found !== undefined) return found;
  throw new AppError(
    "bulk_action_not_found",
    `There is no bulk action "${id.slice(0, 100)}". GET /bulk-actions lists them; old ones are deleted.`,
  );
}

/** @param read may be a transaction */
export async function toBulkActionSummary(
  record: RunningBulkAction,
  read: Pick<Readers, "bulkActions">,
): Promise<BulkActionSummary> {
  const { id, action, total } = record;
  const { retried = 0, cancelled = 0, skipped = 0 } = await read.bulkActions.resultCounts(id);
  const done = retried + cancelled;
  return {
    id,
    ...shared(record),
    status: record.status,
    runs: { total, pending: total - done - skipped, done, skipped },
    ...(action === "retry" && { retries: await read.bulkActions.retryCounts(id) }),
  };
}

/** @param read may be a transaction */
export async function toBulkAction(
  ctx: Pick<ToolContext, "actor">,
  record: BulkActionRecord,
  read: Pick<Readers, "bulkActions" | "runs">,
): Promise<BulkAction> {
  const summary = await toBulkActionSummary(record, read);
  const skipped = addUpSkipped([...record.plan.skipped, ...(await read.bulkActions.skipped(record.id))]);
  return {
    ...summary,
    ...planned(ctx, record),
    skipped: shownSkipped(ctx, await findable(read, skipped)),
    next: nextOf(record, summary),
  };
}

/** What an action would be. @param record as it would be stored */
export function toPreview(ctx: Pick<ToolContext, "actor">, record: BulkActionRecord): BulkAction {
  const { total, plan } = record;
  return {
    id: null,
    ...shared(record),
    status: "preview",
    runs: { total, pending: total, done: 0, skipped: 0 },
    ...planned(ctx, record),
    skipped: shownSkipped(ctx, plan.skipped),
    next: nextOfPreview(ctx, record),
  };
}

const shared = (record: RunningBulkAction) => ({
  action: record.action,
  ...projectField(record.project),
  workflow_id: record.workflowId,
  ...(record.version !== null && { version: record.version }),
  rate: record.rate,
  concurrency: record.concurrency,
  digest: record.digest,
  reason: record.reason,
  message: record.message,
  started_by: record.actor.owner,
  created_at: record.createdAt,
  finished_at: record.finishedAt,
  cancelled_by: record.cancelledBy,
});

const planned = (ctx: Pick<ToolContext, "actor">, { plan }: BulkActionRecord) => ({
  plan: shownPlans(ctx, plan.groups),
  ...(plan.more && { more: true as const }),
});

const isAgent = ({ actor }: Pick<ToolContext, "actor">): boolean => actor.client.surface === "mcp";

/** Cut for an agent. */
function shownPlans(ctx: Pick<ToolContext, "actor">, plans: readonly BulkActionPlan[]): BulkActionPlan[] {
  if (!isAgent(ctx)) return [...plans];
  return plans.slice(0, MCP_SHOWN_PLANS).map(withFewNames);
}

const withFewNames = (plan: BulkActionPlan): BulkActionPlan =>
  plan.effects === undefined ? plan : { ...plan, effects: plan.effects.map(withFewRuns) };

/** Without the names of runs that the caller can't find: those that are passed over may be of another project or workflow. */
async function findable(
  read: Pick<Readers, "runs">,
  skipped: readonly SkippedRuns[],
): Promise<SkippedRuns[]> {
  const shown: SkippedRuns[] = [];
  for (const { message, ...entry } of skipped) {
    const runs = await Promise.all(entry.first.map((id) => read.runs.find(id)));
    const first = entry.first.filter((_, index) => runs[index] !== undefined);
    // The message is that of the first one.
    const isNamed = first[0] === entry.first[0] && message !== undefined;
    shown.push({ ...entry, first, ...(isNamed && { message }) });
  }
  return shown;
}

const shownSkipped = (ctx: Pick<ToolContext, "actor">, skipped: readonly SkippedRuns[]): SkippedRuns[] =>
  isAgent(ctx) ? skipped.map(withFewRuns) : [...skipped];

const withFewRuns = <T extends { first: string[] }>(named: T): T => ({
  ...named,
  first: named.first.slice(0, MCP_SHOWN_RUNS),
});

function nextOfPreview(
  ctx: Pick<ToolContext, "actor">,
  { action, total, digest, plan: { groups, more } }: BulkActionRecord,
): string {
  if (total === 0)
    return `There is nothing to do: skipped says why.${more ? " More runs fit the filter: send until to look at older ones." : ""}`;
  const again = groups
    .flatMap(({ effects = [] }) => effects)
    .filter((effect) => effect.again > 0)
    .map(({ step, again: runs }) => `${step} in ${counted(runs, "run")}`);
  const further = again.length > NAMED_EFFECTS ? `, and ${again.length - NAMED_EFFECTS} more` : "";
  const warning =
    again.length === 0
      ? ""
      : ` Effects may happen again: ${again.slice(0, NAMED_EFFECTS).join(", ")}${further}.`;
  const hidden = groups.length - shownPlans(ctx, groups).length;
  const left =
    hidden === 0
      ? ""
      : ` plan leaves out ${counted(hidden, "further version")}; with workflow_id it has those of one workflow.`;
  return (
    `Nothing was started.${warning}${left} To ${action} ${counted(total, "run")}, ` +
    `send the same request with digest: "${digest}".`
  );
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

function nextOf(
  { id, status, plan }: BulkActionRecord,
  { runs: { pending, total }, retries = {} }: BulkActionSummary,
): string {
  if (status === "running") {
    const { queued = 0, running = 0, waiting = 0 } = retries;
    const active = queued + running + waiting;
    return (
      `${pending} of ${total} runs come next${active === 0 ? "" : `, and ${active} of their retries have not ended`}: ` +
      `start_bulk_action with bulk_action_id (GET /bulk-actions/${id}?wait=50) waits.`
    );
  }
  const lists = `GET /bulk-actions/${id}/runs lists its runs.`;
  if (status === "cancelled") {
    const left =
      pending === 0
        ? ""
        : ` Nothing happened with ${counted(pending, "run")}: the same request without digest takes them up.`;
    const { cancelled = 0 } = retries;
    const again = cancelled === 0 ? "" : ' To retry its cancelled retries too, send status: ["cancelled"].';
    return `It ended early.${left}${again} ${lists}`;
  }
  const more = plan.more
    ? " More runs fitted its filter: send the same request without digest for them."
    : "";
  return `All of its runs were handled.${more} ${lists}`;
}

/** @param read may be a transaction */
export async function toBulkActionRun(
  read: Pick<Readers, "runs">,
  { position, run, result, retry, reason, message }: BulkRunRecord,
): Promise<BulkActionRun> {
  const [source, retried] = await Promise.all([
    read.runs.find(run),
    retry === null ? undefined : read.runs.find(retry),
  ]);
  return {
    position,
    run_id: run,
    ...(source !== undefined && {
      workflow_id: source.workflowId,
      status: source.status,
      created_at: source.createdAt,
    }),
    result,
    retry,
    ...(retried !== undefined && { retry_status: retried.status }),
    ...(reason !== null && { reason }),
    ...(message !== null && { message }),
  };
}
