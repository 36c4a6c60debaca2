/**
 * Lists and counts runs. Each combination of filters is split into branches that an index returns in order, one for each workflow
 * or project, status and trigger: so a page costs the same however many runs are stored. Replays are listed by their trigger alone:
 * the indexes of the other lists have none of them.
 */
import { type Kysely, type RawBuilder, sql, type SqlBool } from "kysely";
import { RunStatus, RunTrigger } from "../../schemas/run.ts";
import type { ListPosition, RunFilter } from "../core/model.ts";
import { MAX_COUNTED } from "./capped-count.ts";
import { isOneOf as isOneOfJson, jsonTextAt } from "./dialect.ts";
import type { Schema } from "./schema.ts";

/** Maximum number of branches of one statement. SQLite allows 500. */
const MAX_BRANCHES = 400;

type Condition = RawBuilder<SqlBool>;

/** The trigger of replays, see `RunFilter.trigger`. */
const BACKTEST: RunTrigger = "backtest";
/** As in the indexes of lists without replays. With a parameter, a plan for all values could not use these. */
const IS_NO_REPLAY = sql<SqlBool>`"trigger" <> ${sql.lit(BACKTEST)}`;

const LISTED_TRIGGERS = RunTrigger.options.filter((trigger) => trigger !== BACKTEST);

/** As the indexes contain it, so that the row, which has what a trial is given, need not be read. */
const IS_TRIAL = sql`(case when trial is null then 0 else 1 end)`;

const and = (conditions: readonly Condition[]): Condition =>
  conditions.length === 0 ? sql<SqlBool>`true` : sql<SqlBool>`${sql.join([...conditions], sql` and `)}`;

/** The values that both lists allow; null allows all. */
const both = (
  value: string | undefined,
  visible: readonly string[] | null | undefined,
): readonly string[] | null => {
  if (value === undefined) return visible ?? null;
  return (visible ?? [value]).includes(value) ? [value] : [];
};

/** The statuses that the filter allows; undefined for all. */
function statusesOf({ status }: RunFilter): RunStatus[] | undefined {
  const distinct = [...new Set(status)];
  return status === undefined || distinct.length === RunStatus.options.length ? undefined : distinct;
}

/**
 * The branches of a filter: conditions that exclude each other, and together match its runs. The columns of each are those of an
 * index that continues with `created_at` and `id`.
 */
async function branchesOf(db: Kysely<Schema>, filter: RunFilter): Promise<Condition[]> {
  const workflows = both(filter.workflowId, filter.visibility?.workflows);
  const projects = both(filter.project, filter.visibility?.projects);
  const statuses = statusesOf(filter);
  const { trigger, isTrial, retryOf, backfill } = filter;
  if (projects?.length === 0 || workflows?.length === 0) return [];
  const ofTrials = isTrial === undefined ? [] : [sql<SqlBool>`${IS_TRIAL} = ${sql.lit(Number(isTrial))}`];
  const noReplay = trigger === BACKTEST ? [] : [IS_NO_REPLAY];
  const ofSources = trigger === BACKTEST ? hasVisibleSource(db, filter) : [];
  // There are few trials besides replays, retries of a run and runs of a backfill, and they have indexes of their own.
  if ((isTrial === true && trigger !== BACKTEST) || retryOf !== undefined || backfill !== undefined)
    return [
      and([
        ...noReplay,
        ...ofSources,
        ...(retryOf === undefined ? [] : [sql<SqlBool>`retry_of = ${retryOf}`]),
        ...(backfill === undefined ? [] : [sql<SqlBool>`backfill = ${backfill}`]),
        ...(isTrial === true ? [sql<SqlBool>`trial is not null`] : ofTrials),
        ...isOneOf("project", projects),
        ...isOneOf("workflow_id", workflows),
        ...isOneOf("status", statuses ?? null),
        ...isOneOf("trigger", trigger === undefined ? null : [trigger]),
      ]),
    ];
  const isSplit = statuses !== undefined || trigger !== undefined;
  const leading: Condition[][] =
    workflows !== null
      ? workflows.map((id) => [sql<SqlBool>`workflow_id = ${id}`].concat(isOneOf("project", projects)))
      : projects !== null || isSplit
        ? (projects ?? (await projectIds(db))).map((id) => [sql`project = ${id}`])
        : [[]];
  if (!isSplit) return leading.map((conditions) => and([...conditions, ...noReplay, ...ofTrials]));
  const triggers = trigger === undefined ? LISTED_TRIGGERS : [trigger];
  return leading.flatMap((conditions) =>
    (statuses ?? RunStatus.options).flatMap((status) =>
      triggers.map((one) =>
        and([...conditions, sql`status = ${status}`, sql`trigger = ${one}`, ...ofTrials, ...ofSources]),
      ),
    ),
  );
}

/** A replay has values of the run that it runs again: a key that is limited to workflows sees it only with the workflow of that run. */
const hasVisibleSource = (db: Kysely<Schema>, { visibility }: RunFilter): Condition[] => {
  const workflows = visibility?.workflows ?? null;
  // One parameter, because each branch has it.
  return workflows === null
    ? []
    : [isOneOfJson(jsonTextAt(db, "replay", "workflowId"), JSON.stringify(workflows))];
};

/** A condition on a column that is not leading; null for none. As an expression, so that SQLite chooses no index by this column. */
const isOneOf = (column: string, values: readonly string[] | null): Condition[] =>
  values === null ? [] : [sql<SqlBool>`coalesce(${sql.ref(column)}, '') in (${sql.join([...values])})`];

const projectIds = async (db: Kysely<Schema>): Promise<string[]> =>
  (await db.selectFrom("projects").select("id").execute()).map(({ id }) => id);

/** The time range of a filter, which all branches have. */
const inRange = ({ since, until }: RunFilter, after: ListPosition | null): Condition[] => [
  ...(since === undefined ? [] : [sql<SqlBool>`created_at >= ${since}`]),
  ...(until === undefined ? [] : [sql<SqlBool>`created_at < ${until}`]),
  ...(after === null ? [] : [sql<SqlBool>`(created_at, id) < (${after[0]}, ${after[1]})`]),
];

/** Splits branches into parts of at most `MAX_BRANCHES`. */
function* inStatements(branches: readonly Condition[]): Generator<readonly Condition[]> {
  for (let from = 0; from < branches.length; from += MAX_BRANCHES)
    yield branches.slice(from, from + MAX_BRANCHES);
}

/** The position of a run in lists. */
interface RunKey {
  id: string;
  created_at: string;
}

const newestFirst = (a: RunKey, b: RunKey): number =>
  a.created_at === b.created_at ? (a.id < b.id ? 1 : -1) : a.created_at < b.created_at ? 1 : -1;

/** The newest `limit` runs of a filter, beyond the position `after`, newest first. */
export async function newestRuns(
  db: Kysely<Schema>,
  { filter, after, limit }: { filter: RunFilter; after: ListPosition | null; limit: number },
): Promise<RunKey[]> {
  const range = inRange(filter, after);
  const keys: RunKey[] = [];
  for (const branches of inStatements(await branchesOf(db, filter))) {
    const parts = branches.map(
      (branch, index) => sql`
        select * from (
          select id, created_at from runs where ${and([branch, ...range])}
          order by created_at desc, id desc limit ${sql.lit(limit)}
        ) as ${sql.ref(`branch_${index}`)}`,
    );
    // Sorted below: SQLite would merge the branches pair by pair.
    const { rows } = await sql<RunKey>`${sql.join(parts, sql` union all `)}`.execute(db);
    keys.push(...rows);
  }
  return keys.toSorted(newestFirst).slice(0, limit);
}

/** Counts the runs of a filter, up to `MAX_COUNTED`. */
export async function countRuns(db: Kysely<Schema>, filter: RunFilter): Promise<number> {
  const range = inRange(filter, null);
  let total = 0;
  for (const branches of inStatements(await branchesOf(db, filter))) {
    const parts = branches.map((branch) => sql`select 1 from runs where ${and([branch, ...range])}`);
    const { rows } = await sql<{ count: number | string }>`
      select count(*) as count from (
        ${sql.join(parts, sql` union all `)} limit ${sql.lit(MAX_COUNTED - total)}
      ) as counted`.execute(db);
    total += Number(rows[0]!.count);
    if (total >= MAX_COUNTED) break;
  }
  return total;
}
