/** `millrace runs export`: writes all runs that fit, with whole values. */
import { cellText, csvText } from "../../schemas/csv.ts";
import type { RunSummary } from "../../schemas/run.ts";
import { RUN_COLUMNS, toRunRow } from "../../schemas/run-columns.ts";
import { getRunValue } from "../../tools/runs/get-run-value.ts";
import { listRuns } from "../../tools/runs/list-runs.ts";
import { listedPaths, listedValue } from "../../tools/runs/listed-values.ts";
import { AppError } from "../core/errors.ts";
import { newRequestId } from "../core/ids.ts";
import { prepare } from "../surfaces/invoke.ts";
import { CommandError, type Io } from "./io.ts";
import { type Operator, OPERATOR_ACTOR, withOperator } from "./operator.ts";
import { namingOptions } from "./option-issues.ts";
import { plural } from "./plural.ts";
import { FILTER_OPTIONS, filterInput, type RunFilterOptions } from "./run-filter.ts";
import { assertNewFile, jsonLines, writeOutput } from "./write-lines.ts";

export interface RunsExportOptions extends RunFilterOptions {
  /** Paths of values that are added to each run. */
  values?: string[];
  format: "jsonl" | "csv";
  output?: string;
}

/** Number of characters that are read at a time of a value that a list shortens: the maximum. */
const PAGE_CHARS = 100_000;

/** Writes runs, newest first. Only one page of them is in memory, and the whole values of one run. */
export async function exportRuns(
  io: Io,
  { output, format, values = [], ...filter }: RunsExportOptions,
): Promise<void> {
  if (output !== undefined) assertNewFile(output);
  const names = [...new Set(values)];
  const input = { ...filterInput(filter), ...(names.length > 0 && { values: names }) };
  let count = 0;
  await namingOptions({ ...FILTER_OPTIONS, values: "--values" }, () =>
    withOperator(io, { requiresStateFor: "export runs of" }, async (operator) => {
      const runs = allRuns(operator, input, names);
      async function* counted() {
        for await (const run of runs) {
          count += 1;
          yield run;
        }
      }
      await writeOutput(io, output, format === "csv" ? csvLines(counted(), names) : jsonLines(counted()));
    }),
  );
  if (output !== undefined) io.out(`${plural(count, "run")} written to ${output}\n`);
}

async function* allRuns(
  operator: Operator,
  input: Readonly<Record<string, unknown>>,
  names: readonly string[],
): AsyncGenerator<RunSummary> {
  const call = {
    actor: OPERATOR_ACTOR,
    requestId: newRequestId(),
    signal: new AbortController().signal,
  };
  for await (const { items } of prepare(operator.services, listRuns, input, call).pages())
    for (const run of items as RunSummary[]) yield withWholeValues(operator, run, names);
}

/** The run with the recorded values in place of those that the list shortened. */
async function withWholeValues(
  { call }: Operator,
  run: RunSummary,
  names: readonly string[],
): Promise<RunSummary> {
  const values = { ...run.values };
  const shortened = names.filter((name) => mayBeShortened(values[name]));
  if (shortened.length === 0) return run;
  const recorded = new Map<string, unknown>();
  for (const path of listedPaths(shortened)) {
    const { name, ref } = path;
    try {
      if (!recorded.has(ref)) recorded.set(ref, JSON.parse(await wholeText(call, run.id, ref)));
      const found = listedValue(recorded.get(ref), path);
      // A list does not read far enough into a large value to know that the run lacks a part of it.
      if (found === undefined) delete values[name];
      else values[name] = found.value;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw new CommandError(
        `The value ${name} of the run ${run.id} cannot be read as a whole, and an export shortens no value: ${error.message} ` +
          "The export is incomplete. Run it again, with --since if the run was purged meanwhile, or without this value.",
      );
    }
  }
  return { ...run, values };
}

/** Whether a list may have shortened it. A recorded value can look like that too: the recorded one is read in both cases. */
const mayBeShortened = (value: unknown): boolean =>
  typeof value === "object" && value !== null && (value as { truncated?: unknown }).truncated === true;

/** The JSON text of a recorded value. @throws AppError run_not_found, value_not_found */
async function wholeText(call: Operator["call"], runId: string, ref: string): Promise<string> {
  const parts: string[] = [];
  for (let offset: number | null = 0; offset !== null;) {
    const page: { text: string; next_offset: number | null } = await call(getRunValue, {
      run_id: runId,
      ref,
      offset,
      max_chars: PAGE_CHARS,
    });
    parts.push(page.text);
    offset = page.next_offset;
  }
  return parts.join("");
}

/** CSV for spreadsheets: the values come from inputs and answers of others, who could write a formula. */
async function* csvLines(runs: AsyncIterable<RunSummary>, names: readonly string[]): AsyncGenerator<string> {
  yield csvText([[...RUN_COLUMNS, ...names]]);
  for await (const run of runs) {
    const { values = {} } = run;
    const row = toRunRow(run);
    const cells = [...RUN_COLUMNS.map((name) => row[name]), ...names.map((name) => values[name])];
    yield csvText([cells.map(cellText)], { continues: true });
  }
}
