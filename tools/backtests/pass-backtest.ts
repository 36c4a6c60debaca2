/** The backtest that a version must pass before it goes live, where its project or workflow demands one. */
import type { PassedBacktest } from "../../schemas/backtest-rule.ts";
import { projectOf } from "../../schemas/project.ts";
import type { Issue } from "../../schemas/problem.ts";
import { MAX_WAIT_SECONDS } from "../../schemas/run.ts";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import type { BacktestRecord, BacktestRunRecord } from "../../src/core/backtest-ports.ts";
import { HOUR } from "../../src/core/clock.ts";
import { coveringName, fewNames, normalName } from "../../src/core/difference-names.ts";
import { AppError } from "../../src/core/errors.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { requiredBacktest, type RequiredBacktest } from "./backtest-rule.ts";
import { publicationDigest } from "./publication-digest.ts";
import { sourceRuns } from "./source-runs.ts";
import { prepareBacktest, saveBacktest } from "./start-backtest.ts";
import { waitForBacktest } from "./wait-for-backtest.ts";

/** How old a backtest may be that a publication needs: later runs are not in it. */
const MAX_AGE_MS = 24 * HOUR;
/** Maximum number of backtests of a version, the newest ones, of which one may be such. */
const MAX_CANDIDATES = 20;
/** Number of its runs that are read at a time. */
const PAGE = 200;
/** Maximum number of names of differences in an error: as many as one request can accept. */
const MAX_NAMES = 100;
/** Maximum number of names in a message. */
const MAX_IN_MESSAGE = 5;

/** Why a run was not compared that says nothing about the definition. */
const BY_CHANCE: ReadonlySet<string> = new Set(["stopped", "purged"]);

interface Asked {
  workflow: WorkflowWithDefinition;
  version: number;
  /** The names of differences that the caller accepts. */
  accepted: readonly string[];
}

/**
 * Finds the backtest of a version that its rule demands, or starts it, and waits for its end.
 * @returns undefined where none is needed
 * @throws AppError backtest_differs, backtest_unfinished; those of a start
 */
export async function passBacktest(ctx: ToolContext, asked: Asked): Promise<PassedBacktest | undefined> {
  const { workflow, version } = asked;
  const rule = await requiredBacktest(ctx.read, workflow, version);
  if (rule === undefined) return undefined;
  const runs = await lastRuns(ctx, workflow, rule.last);
  if (runs.length === 0) return withoutRuns;
  const digest = await publicationDigest(ctx, ctx.read, workflow, version);
  const found = await fitting(ctx, { ...asked, rule, digest });
  const ended = found.filter(({ backtest }) => backtest.status === "finished");
  const passed = ended.find(({ verdict }) => verdict.open.length === 0);
  if (passed !== undefined) return toPassed(passed);
  const running = found.find(({ backtest }) => backtest.status === "running");
  if (ended[0] !== undefined && running === undefined) throw await differs(ctx, asked, ended[0]);
  const id = running?.backtest.id ?? (await start(ctx, asked, runs));
  await waitForBacktest(ctx, { id, total: runs.length }, MAX_WAIT_SECONDS);
  const backtest = (await ctx.read.backtests.find(id))!;
  if (backtest.status !== "finished") throw await unfinished(ctx, backtest);
  const verdict = await verdictOf(ctx, backtest, rule, asked.accepted);
  if (verdict.open.length > 0) throw await differs(ctx, asked, { backtest, verdict });
  return toPassed({ backtest, verdict });
}

const withoutRuns: PassedBacktest = {
  id: null,
  runs: { total: 0, equal: 0, different: 0, failing: 0, not_comparable: 0 },
  allowed: [],
  accepted: [],
};

const lastRuns = (
  { read }: Pick<ToolContext, "read">,
  workflow: WorkflowWithDefinition,
  last: number,
  until?: string,
) =>
  sourceRuns(read.runs, {
    workflowId: workflow.id,
    project: projectOf(workflow),
    last,
    status: ["succeeded", "failed"],
    version: undefined,
    since: undefined,
    until,
  });

/** What a backtest found, by name. */
interface Verdict {
  runs: PassedBacktest["runs"];
  /** What differs and is neither allowed nor accepted. */
  open: string[];
  /** Number of runs with it. */
  openRuns: number;
  /** The names of the rule that something differing has, or is in. */
  allowed: string[];
  /** The same of the names that the caller accepts. */
  accepted: string[];
}

interface Fitting {
  backtest: BacktestRecord;
  verdict: Verdict;
}

/** The backtests that say how the version does on the last runs: the newest one that has ended of each kind of reads, and those that run. */
async function fitting(
  ctx: ToolContext,
  { workflow, version, accepted, rule, digest }: Asked & { rule: RequiredBacktest; digest: string },
): Promise<Fitting[]> {
  const { items } = await ctx.read.backtests.page({
    filter: { workflowId: workflow.id, version },
    after: null,
    limit: MAX_CANDIDATES,
  });
  const found: Fitting[] = [];
  const oldest = ctx.now() - MAX_AGE_MS;
  for (const backtest of items) {
    const { status, sourceWorkflowId, createdAt } = backtest;
    const isFitting =
      (status === "running" ||
        (status === "finished" && !found.some((other) => isNewer(other.backtest, backtest)))) &&
      backtest.digest === digest &&
      sourceWorkflowId === workflow.id &&
      Date.parse(createdAt) >= oldest &&
      (await hasLastRuns(ctx, workflow, rule.last, backtest));
    if (isFitting) found.push({ backtest, verdict: await verdictOf(ctx, backtest, rule, accepted) });
  }
  return found;
}

/** Whether a backtest that was found before says what another one says, about later runs. */
const isNewer = (found: BacktestRecord, other: BacktestRecord): boolean =>
  found.status === "finished" && found.reads === other.reads;

/** Whether a backtest has all of the last runs that there were when it started. */
async function hasLastRuns(
  ctx: Pick<ToolContext, "read">,
  workflow: WorkflowWithDefinition,
  last: number,
  { id, createdAt }: BacktestRecord,
): Promise<boolean> {
  const wanted = new Set((await lastRuns(ctx, workflow, last, createdAt)).map((run) => run.id));
  for await (const { sourceRun } of runsOf(ctx, id)) wanted.delete(sourceRun);
  return wanted.size === 0;
}

async function* runsOf({ read }: Pick<ToolContext, "read">, id: string): AsyncGenerator<BacktestRunRecord> {
  for (let after: number | null = null; ;) {
    const page: BacktestRunRecord[] = await read.backtests.runs(id, { after, limit: PAGE });
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)!.position;
  }
}

async function verdictOf(
  ctx: Pick<ToolContext, "read">,
  { id, given }: BacktestRecord,
  rule: RequiredBacktest,
  accepted: readonly string[],
): Promise<Verdict> {
  const acceptable = accepted.map(normalName);
  const runs = { total: 0, equal: 0, different: 0, failing: 0, not_comparable: 0 };
  const [open, allowed, used] = [new Set<string>(), new Set<string>(), new Set<string>()];
  /** @returns whether nobody has accepted it */
  const isOpen = (name: string): boolean => {
    const byRule = coveringName(name, rule.allow);
    const byCaller = byRule === undefined ? coveringName(name, acceptable) : undefined;
    if (byRule !== undefined) allowed.add(byRule);
    else if (byCaller !== undefined) used.add(byCaller);
    else open.add(name);
    return byRule === undefined && byCaller === undefined;
  };
  // Nobody knows what these steps would return.
  for (const step of Object.keys(given)) isOpen(`given.${step}`);
  let openRuns = 0;
  let chance = 0;
  for await (const { result, details } of runsOf(ctx, id)) {
    runs.total += 1;
    if (result !== null) runs[result] += 1;
    if (BY_CHANCE.has(details?.difference?.reason ?? "")) chance += 1;
    else if ((details?.names ?? []).filter(isOpen).length > 0) openRuns += 1;
  }
  // Where no run could be compared, nobody knows anything.
  if (chance === runs.total && isOpen("not_comparable")) openRuns = runs.total;
  return { runs, openRuns, open: fewNames(open, MAX_NAMES), allowed: [...allowed], accepted: [...used] };
}

const toPassed = ({ backtest: { id }, verdict: { runs, allowed, accepted } }: Fitting): PassedBacktest => ({
  id,
  runs,
  allowed,
  accepted,
});

async function start(
  ctx: ToolContext,
  { workflow, version }: Asked,
  runs: Awaited<ReturnType<typeof sourceRuns>>,
): Promise<string> {
  if ((await ctx.read.jobs.executors()).length === 0)
    throw notPublished(
      "backtest_unfinished",
      `Version ${version} needs a backtest, and no executor is running that could run it. Ask the operator to start one ` +
        "(millrace worker), then publish again.",
      [],
    );
  const tested = { version, definition: null, given: {}, reads: "recorded", source: workflow, runs } as const;
  return saveBacktest(ctx, await prepareBacktest(ctx, workflow, tested), `backtest@${version}`);
}

const notPublished = (
  code: "backtest_differs" | "backtest_unfinished",
  text: string,
  errors: Issue[],
): AppError => new AppError(code, `Nothing was published. ${text}`, { errors });

async function unfinished(
  { read }: Pick<ToolContext, "read">,
  { id, workflowId, version, status, total, message }: BacktestRecord,
): Promise<AppError> {
  const why = message === null ? "" : ` ${message}`;
  if (status !== "running")
    return notPublished(
      "backtest_unfinished",
      `The backtest ${id} of version ${version} ended early (${status}).${why} Publishing again starts another one.`,
      [],
    );
  const counts = await read.backtests.resultCounts(id);
  const done = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const fix = `Wait for it with backtest_workflow, workflow_id: "${workflowId}", backtest_id: "${id}", then publish again.`;
  return notPublished(
    "backtest_unfinished",
    `Version ${version} needs a backtest of the last runs, which was started: ${id} has compared ${done} of ${total} runs.${why} ${fix}`,
    [{ path: "version", code: "backtest_unfinished", message: `is being tested by ${id}`, fix }],
  );
}

async function differs(
  { accounts }: Pick<ToolContext, "accounts">,
  { workflow, version }: Asked,
  { backtest: { id }, verdict: { open, openRuns, runs } }: Fitting,
): Promise<AppError> {
  const listed = open.slice(0, MAX_IN_MESSAGE).join(", ");
  const more = open.length > MAX_IN_MESSAGE ? `, and ${open.length - MAX_IN_MESSAGE} more` : "";
  const page = await accounts.pageUrl(`/workflows/${workflow.id}/backtests/${id}`);
  return notPublished(
    "backtest_differs",
    `The backtest ${id} of version ${version} and the last ${runs.total} runs differ in ${listed}${more}` +
      `${openRuns > 0 ? ` (${openRuns} runs)` : ""}. If that is what it should do, accept it by name: ` +
      `accept_differences: ${JSON.stringify(open)}. Else change the workflow. ` +
      `backtest_workflow with backtest_id: "${id}" shows its first runs; all are on ${page}.` +
      (open.includes("not_comparable.changed_read")
        ? ` A query has changed: backtest_workflow with version: ${version}, reads: "live" runs it, and counts here.`
        : ""),
    [
      {
        path: "accept_differences",
        code: "not_accepted",
        message: "does not name everything that differs",
        allowed: open,
        fix: "Accept what it should do by name, or change the workflow.",
      },
    ],
  );
}
