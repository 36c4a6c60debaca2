/** `millrace runs`: lists, shows and cancels runs. */
import { MAX_PAGE } from "../../schemas/page.ts";
import { FINAL_STATUSES, type Run, type RunSummary } from "../../schemas/run.ts";
import { cancelRun } from "../../tools/runs/cancel-run.ts";
import { getRun } from "../../tools/runs/get-run.ts";
import { listRuns } from "../../tools/runs/list-runs.ts";
import { alignColumns } from "./columns.ts";
import { type Io, paint } from "./io.ts";
import { type Operator, withOperator } from "./operator.ts";
import { namingOptions } from "./option-issues.ts";
import { describeFailure, describeInterruptions, describeWaits } from "./run.ts";
import { definedOnly, filterInput, type RunFilterOptions } from "./run-filter.ts";
import { stepLine } from "./run-view.ts";

export interface RunsOptions extends Pick<RunFilterOptions, "workflow" | "project" | "status"> {
  /** Words that the runs contain, and a condition that is true for them. */
  search?: string;
  where?: string;
  /** Paths of values that are shown of each run. */
  values?: string[];
  limit?: number;
  json?: boolean;
}

/** Maximum number of runs that are listed unless another one is given. */
const DEFAULT_LIMIT = 20;
/** Maximum length of each value in `runs show --json`, in characters of JSON. */
const VALUE_CHARS = 100_000;

/** The workflow of a run, or its single step. */
const nameOf = ({ workflow_id: workflow, step }: Pick<RunSummary, "workflow_id" | "step">): string =>
  workflow ?? `step ${step!.id} (${step!.type})`;

/** Lists runs, newest first. */
export async function showRuns(
  io: Io,
  { search, where, values = [], limit = DEFAULT_LIMIT, json, ...filter }: RunsOptions,
): Promise<void> {
  const input = {
    ...filterInput(filter),
    ...definedOnly({ search, where }),
    ...(values.length > 0 && { values }),
    limit: Math.min(limit, MAX_PAGE),
  };
  const { items, total, hasMore } = await namingOptions(
    { search: "--search", where: "--where", values: "--values" },
    () => withOperator(io, { requiresStateFor: "list runs of" }, ({ call }) => listed(call, input)),
  );
  if (json) return io.out(`${JSON.stringify(items, null, 2)}\n`);
  if (items.length === 0) return io.out("There are no such runs. Start one: millrace run <workflow>\n");
  const { green, red, yellow, dim, bold } = paint(io);
  const colours = {
    succeeded: green,
    failed: red,
    waiting: yellow,
    running: bold,
    queued: dim,
    cancelled: dim,
  };
  const rows = items.map(
    ({ id, status: runStatus, trigger, trial, error, created_at: created, values: shown, ...of }) => [
      id,
      nameOf(of),
      runStatus,
      created.slice(0, 19).replace("T", " "),
      `${trigger}${trial ? ", trial" : ""}`,
      [
        ...(error === null ? [] : [`${error.code}${error.step_id ? ` at ${error.step_id}` : ""}`]),
        ...(of.open_interruptions === undefined
          ? []
          : [`${of.open_interruptions} open interruption${of.open_interruptions === 1 ? "" : "s"}`]),
      ].join(", "),
      ...values.map((path) => cellOf(shown?.[path])),
    ],
  );
  const head = ["ID", "WORKFLOW", "STATUS", "CREATED (UTC)", "TRIGGER", "ERROR", ...values];
  const line = alignColumns([head, ...rows]);
  io.out(`${bold(line(head))}\n`);
  for (const [index, row] of rows.entries()) {
    const { status: runStatus } = items[index]!;
    // Coloured after the alignment, which counts characters.
    io.out(`${line(row).replace(`  ${runStatus} `, `  ${colours[runStatus](runStatus)} `)}\n`);
  }
  if (total > items.length) io.out(dim(`${total - items.length} more; show them with --limit\n`));
  else if (hasMore) io.out(dim("There may be more; show them with --limit\n"));
}

interface Listed {
  items: RunSummary[];
  total: number;
  next_cursor: string | null;
}

/** Reads pages until there are enough runs: a page of a search may have few, or none. */
async function listed(
  call: Operator["call"],
  input: { limit: number },
): Promise<Pick<Listed, "items" | "total"> & { hasMore: boolean }> {
  const items: RunSummary[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await call<Listed>(listRuns, {
      ...input,
      limit: input.limit - items.length,
      ...definedOnly({ cursor }),
    });
    items.push(...page.items);
    if (items.length >= input.limit || page.next_cursor === null)
      return { items, total: page.total, hasMore: page.next_cursor !== null };
    cursor = page.next_cursor;
  }
}

/** A value as one cell of a table; empty for a run that lacks it. */
export const cellOf = (value: unknown): string =>
  value === undefined
    ? ""
    : typeof value === "string" && /^[\p{L}\p{N}\p{P}\p{S}]+$/u.test(value)
      ? value
      : JSON.stringify(value);

/** Shows one run with its steps. */
export async function showOneRun(io: Io, id: string, { json }: { json?: boolean }): Promise<void> {
  const input = json ? { detail: "full", max_chars: VALUE_CHARS } : { detail: "steps" };
  const run = await withOperator(io, { requiresStateFor: "show a run of" }, ({ call }) =>
    call<Run>(getRun, { run_id: id, ...input }),
  );
  if (json) return io.out(`${JSON.stringify(run, null, 2)}\n`);
  const { bold } = paint(io);
  io.out(
    `${bold(run.id)}  ${nameOf(run)}${run.version === null ? "" : ` version ${run.version}`}  ${run.status}  started by ${run.started_by.key_name} (${run.trigger}${run.trial ? ", trial" : ""})\n`,
  );
  for (const step of run.steps ?? []) io.out(`  ${stepLine(step, Date.now())}\n`);
  if (run.status === "succeeded") io.out(`${JSON.stringify(run.output ?? null, null, 2)}\n`);
  if (run.status === "failed") io.out(`${describeFailure(run).split("\n").slice(0, -1).join("\n")}\n`);
  if (run.status === "waiting") io.out(`${describeWaits(run).split("\n").slice(0, -1).join("\n")}\n`);
  for (const line of describeInterruptions(run)) io.out(`${line}\n`);
}

/** Cancels a run. */
export async function cancelOneRun(io: Io, id: string): Promise<void> {
  const run = await withOperator(io, {}, ({ call }) => call<Run>(cancelRun, { run_id: id }));
  io.out(
    FINAL_STATUSES.has(run.status)
      ? `The run ${run.id} is ${run.status}.\n`
      : `The run ${run.id} is being cancelled. Its running steps end first.\n`,
  );
}
