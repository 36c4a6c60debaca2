/** The backtest that a version must pass before it goes live, where its project or workflow demands one. */
import { MAX_NAMES, type PassedBacktest } from "../../schemas/backtest-rule.ts";
import { projectOf } from "../../schemas/project.ts";
import type { Issue } from "../../schemas/problem.ts";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import type { BacktestRecord, BacktestRunRecord } from "../../src/core/backtest-ports.ts";
import { HOUR, iso } from "../../src/core/clock.ts";
import { coveringName, differenceName, fewNames, normalName } from "../../schemas/difference-names.ts";
import { AppError } from "../../src/core/errors.ts";
import type { Writers } from "../../src/core/ports.ts";
import type { RunRecord } from "../../src/core/model.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { usageSubjectOf } from "../../src/core/usage-limits.ts";
import { runActor } from "../runs/run-actor.ts";
import { requiredBacktest, type RequiredBacktest } from "./backtest-rule.ts";
import { publicationDigest } from "./publication-digest.ts";
import { sourceRuns } from "./source-runs.ts";
import { prepareBacktest, saveBacktest } from "./start-backtest.ts";
import { waitForBacktest } from "./wait-for-backtest.ts";

/**
 * Maximum wait for a backtest, in seconds: examples may take as long again as any wait does, and clients and proxies give up after
 * a minute or a little more.
 */
const WAIT_SECONDS = 20;
/** How old a backtest may be that a publication needs: later runs are not in it. */
const MAX_AGE_MS = 24 * HOUR;
/** Maximum number of backtests of a version, the newest ones, of which one may be such. */
const MAX_CANDIDATES = 10;
/** Number of its runs that are read at a time. */
const PAGE = 200;
/** Maximum number of names in a message. */
const MAX_IN_MESSAGE = 5;

/** The name of a backtest whose replays somebody cancelled: it is run again. */
const INTERRUPTED = differenceName(["not_comparable", "interrupted"]);

interface Asked {
  /** As it is now. */
  workflow: WorkflowWithDefinition;
  version: number;
  /** The names of differences that the caller accepts. */
  accepted: readonly string[];
}

export interface Passed {
  backtest: PassedBacktest;
  /** Stands for what was tested. */
  digest: string;
}

/**
 * Finds the backtest of a version that its rule demands, or starts it, and waits for its end.
 * @returns undefined where none is needed
 * @throws AppError backtest_differs, backtest_unfinished; those of a start
 */
export async function passBacktest(ctx: ToolContext, asked: Asked): Promise<Passed | undefined> {
  const { workflow, version } = asked;
  const required = await requiredBacktest(ctx.read, workflow, version);
  if (required === undefined) return undefined;
  const digest = await publicationDigest(ctx, ctx.read, workflow, version);
  const { runs, isCut } = await lastRuns(ctx, workflow, required.rule.last);
  if (isCut) required.unseen.push(differenceName(["not_comparable", "runs_of_drafts"]));
  const testing: Testing = { ...asked, required, digest };
  if (runs.length === 0) return assertPassed(ctx, testing, (await judge(ctx, testing, null))!);
  const found = await fitting(ctx, testing);
  const passed = found.find(({ backtest, open }) => backtest!.status === "finished" && open.length === 0);
  if (passed !== undefined) return assertPassed(ctx, testing, passed);
  const subject = usageSubjectOf(runActor(ctx));
  const running = found.find(
    ({ backtest }) =>
      backtest!.status === "running" && isPlain(backtest!) && usageSubjectOf(backtest!.actor) === subject,
  );
  const differing = found.find(
    ({ backtest, open }) =>
      backtest!.status === "finished" && isPlain(backtest!) && !open.includes(INTERRUPTED),
  );
  if (running === undefined && differing !== undefined) return assertPassed(ctx, testing, differing);
  const id = running?.backtest!.id ?? (await start(ctx, asked, runs));
  await waitForBacktest(ctx, (await ctx.read.backtests.find(id))!, WAIT_SECONDS);
  const backtest = (await ctx.read.backtests.find(id))!;
  const verdict = backtest.status === "finished" ? await judge(ctx, testing, backtest) : undefined;
  if (verdict === undefined) throw await unfinished(ctx, backtest);
  return assertPassed(ctx, testing, verdict);
}

/**
 * Refuses to publish what is no longer what was tested.
 * @throws AppError backtest_unfinished
 */
export async function assertSameDigest(
  ctx: Pick<ToolContext, "engine">,
  tx: Pick<Writers, "workflows" | "runs" | "projects">,
  { digest, current, version }: { digest: string; current: WorkflowWithDefinition; version: number },
): Promise<void> {
  if ((await publicationDigest(ctx, tx, current, version)) === digest) return;
  throw notPublished(
    "backtest_unfinished",
    `A called workflow, the configuration or the published version has changed while version ${version} was tested. Publish again.`,
    [],
  );
}

interface Testing extends Asked {
  required: RequiredBacktest;
  digest: string;
}

/** Whether it took no output for granted that nobody has seen. */
const isPlain = ({ given }: BacktestRecord): boolean => Object.keys(given).length === 0;

/**
 * The newest runs of versions that were published: those of drafts say how drafts do.
 * @param at only those that had ended then
 */
async function lastRuns(
  { read }: Pick<ToolContext, "read">,
  { id, ...workflow }: WorkflowWithDefinition,
  last: number,
  at?: string,
): ReturnType<typeof sourceRuns> {
  const { versions } = await read.workflows.publications(id);
  return sourceRuns(read.runs, {
    workflowId: id,
    project: projectOf(workflow),
    last,
    status: ["succeeded", "failed"],
    until: at === undefined ? undefined : iso(Date.parse(at) + 1),
    isWanted: ({ version, definition, finishedAt }) =>
      definition === null && versions.has(version) && (at === undefined || finishedAt! <= at),
  });
}

/** What a backtest found, by name. */
interface Verdict {
  /** Null where there were no runs. */
  backtest: BacktestRecord | null;
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

/** The backtests that say how the version does on the last runs: the newest one that has ended of each kind of reads, and those that run. */
async function fitting(ctx: ToolContext, testing: Testing): Promise<Verdict[]> {
  const { workflow, version, digest } = testing;
  const { items } = await ctx.read.backtests.page({
    filter: { workflowId: workflow.id, version },
    after: null,
    limit: MAX_CANDIDATES,
  });
  const found: Verdict[] = [];
  const oldest = ctx.now() - MAX_AGE_MS;
  for (const backtest of items) {
    const { status, createdAt } = backtest;
    const isFitting =
      (status === "running" ||
        (status === "finished" && !found.some((other) => isNewer(other.backtest!, backtest)))) &&
      backtest.digest === digest &&
      Date.parse(createdAt) >= oldest;
    const judged = isFitting ? await judge(ctx, testing, backtest) : undefined;
    if (judged !== undefined) found.push(judged);
  }
  return found;
}

/** Whether a backtest that was found before says what another one says, about later runs. */
const isNewer = (found: BacktestRecord, other: BacktestRecord): boolean =>
  found.status === "finished" && found.reads === other.reads && isPlain(found) === isPlain(other);

async function* runsOf({ read }: Pick<ToolContext, "read">, id: string): AsyncGenerator<BacktestRunRecord> {
  for (let after: number | null = null; ;) {
    const page: BacktestRunRecord[] = await read.backtests.runs(id, { after, limit: PAGE });
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)!.position;
  }
}

/**
 * Says what differs in the last runs; others of the backtest, such as those of drafts, do not count.
 * @param backtest null where there are no runs
 * @returns undefined for a backtest that lacks one of them
 */
async function judge(
  ctx: Pick<ToolContext, "read">,
  testing: Testing,
  backtest: BacktestRecord | null,
): Promise<Verdict | undefined> {
  const { rule, unseen } = testing.required;
  const acceptable = testing.accepted.map(normalName);
  const runs = { total: 0, equal: 0, different: 0, failing: 0, not_comparable: 0 };
  const [open, allowed, used] = [new Set<string>(), new Set<string>(), new Set<string>()];
  /** @returns whether nobody has accepted it */
  const isOpen = (name: string): boolean => {
    if (open.has(name)) return true;
    const byRule = coveringName(name, rule.allow);
    const byCaller = byRule === undefined ? coveringName(name, acceptable) : undefined;
    if (byRule !== undefined) allowed.add(byRule);
    else if (byCaller !== undefined) used.add(byCaller);
    else open.add(name);
    return byRule === undefined && byCaller === undefined;
  };
  for (const name of unseen) isOpen(name);
  let openRuns = 0;
  if (backtest !== null) {
    // Nobody knows what these steps would return.
    for (const step of Object.keys(backtest.given)) isOpen(differenceName(["given", step]));
    const { runs: last } = await lastRuns(ctx, testing.workflow, rule.last, backtest.createdAt);
    const wanted = new Set(last.map((run) => run.id));
    let unknown = 0;
    for await (const { sourceRun, result, details } of runsOf(ctx, backtest.id)) {
      if (!wanted.delete(sourceRun)) continue;
      runs.total += 1;
      if (result === null) continue;
      runs[result] += 1;
      if (result === "equal") continue;
      const names = details?.names ?? [];
      if (names.length === 0) unknown += 1;
      if (names.filter(isOpen).length > 0) openRuns += 1;
    }
    if (wanted.size > 0 || runs.total === 0) return undefined;
    // Where each run ended by chance, nobody knows anything.
    if (runs.total > 0 && unknown === runs.total && isOpen("not_comparable")) openRuns = runs.total;
  }
  return {
    backtest,
    runs,
    openRuns,
    open: fewNames(open, MAX_NAMES),
    allowed: [...allowed],
    accepted: [...used],
  };
}

/** @throws AppError backtest_differs */
async function assertPassed(ctx: ToolContext, testing: Testing, verdict: Verdict): Promise<Passed> {
  const { backtest, runs, open, allowed, accepted } = verdict;
  if (open.length > 0) throw await differs(ctx, testing, verdict);
  const { rule } = testing.required;
  return {
    backtest: { id: backtest?.id ?? null, rule, runs, allowed, accepted },
    digest: testing.digest,
  };
}

async function start(
  ctx: ToolContext,
  { workflow, version }: Asked,
  runs: readonly RunRecord[],
): Promise<string> {
  if ((await ctx.read.jobs.executors()).length === 0)
    throw notPublished(
      "backtest_unfinished",
      `Version ${version} needs a backtest, and no executor is running that could run it. Ask the operator to start one ` +
        "(millrace worker), then publish again.",
      [],
    );
  const tested = { version, definition: null, given: {}, reads: "recorded", source: workflow, runs } as const;
  const prepared = await prepareBacktest(ctx, workflow, tested);
  return saveBacktest(ctx, prepared, false);
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
      status === "finished"
        ? `The last runs have changed while version ${version} was tested. Publish again.`
        : `The backtest ${id} of version ${version} ended early (${status}).${why} Publishing again starts another one.`,
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
  { backtest, open, openRuns, runs }: Verdict,
): Promise<AppError> {
  const listed = open.slice(0, MAX_IN_MESSAGE).join(", ");
  const more = open.length > MAX_IN_MESSAGE ? `, and ${open.length - MAX_IN_MESSAGE} more` : "";
  const names = open.length > MAX_IN_MESSAGE ? "the names in `errors`" : JSON.stringify(open);
  const parts = [
    `Version ${version} differs in ${listed}${more}`,
    ...(backtest === null || openRuns === 0
      ? []
      : [` (${openRuns} of the last ${runs.total} runs, backtest ${backtest.id})`]),
    `. If that is what it should do, accept it by name: accept_differences: ${names}. Else change the workflow.`,
  ];
  if (backtest !== null) {
    const page = await accounts.pageUrl(`/workflows/${workflow.id}/backtests/${backtest.id}`);
    parts.push(
      ` backtest_workflow with backtest_id: "${backtest.id}" shows its first runs; all are on ${page}.`,
    );
  }
  if (open.includes("not_comparable"))
    parts.push(" No run could be compared: all were stopped, or are no longer stored.");
  if (open.includes(INTERRUPTED)) parts.push(" Replays were cancelled; publishing again tests again.");
  if (open.includes("not_comparable.changed_read"))
    parts.push(
      ` A query has changed: backtest_workflow with version: ${version}, reads: "live" runs it, and counts here.`,
    );
  return notPublished("backtest_differs", parts.join(""), [
    {
      path: "accept_differences",
      code: "not_accepted",
      message: "does not name everything that differs",
      allowed: open,
      fix: "Accept what it should do by name, or change the workflow.",
    },
  ]);
}
