/** What the command line says about a backtest. */
import type { PassedBacktest } from "../../schemas/backtest-rule.ts";
import type { Backtest, BacktestEffect, BacktestRun } from "../../schemas/backtest.ts";
import type { Difference } from "../../schemas/difference.ts";
import { type Io, paint } from "./io.ts";
import { plural } from "./plural.ts";
import { printTable } from "./project-output.ts";

/** Number of differences of a run or an effect that are printed; the page has all of them. */
const SHOWN_DIFFERENCES = 3;

/** "186 equal, 6 different, 1 failing, 7 not comparable" */
const counts = ({ equal, different, failing, not_comparable: not }: PassedBacktest["runs"]): string =>
  `${equal} equal, ${different} different, ${failing} failing, ${not} not comparable`;

/** "120 of 200 runs compared: 118 equal, …" */
export const progressLine = ({ runs }: Backtest): string =>
  `${runs.total - runs.pending} of ${plural(runs.total, "run")} compared: ${counts(runs)}`;

/** "bt_8dkq2m0sfj3a, 100 runs: 88 equal, 12 different, …; accepted: output.total" */
export function describePassed({ id, runs, accepted }: PassedBacktest): string {
  const found = id === null ? "there were no runs" : `${id}, ${plural(runs.total, "run")}: ${counts(runs)}`;
  return accepted.length === 0 ? found : `${found}; accepted: ${accepted.join(", ")}`;
}

/**
 * Says why a backtest that has ended does not pass.
 * @returns undefined when no run differs or fails
 */
export function describeVerdict({
  id,
  status,
  message,
  runs,
  cancelled_by: by,
}: Backtest): string | undefined {
  if (status === "failed") return `The backtest ${id} failed: ${message ?? "unknown"}`;
  if (status === "cancelled") return `The backtest ${id} was cancelled${by === null ? "" : ` by ${by}`}.`;
  const { different, failing, equal } = runs;
  if (different + failing > 0)
    return `${plural(different, "run")} ${different === 1 ? "differs" : "differ"}, and ${failing} ${failing === 1 ? "fails" : "fail"}.`;
  return equal > 0 ? undefined : "No run could be compared.";
}

/** Prints a backtest that has ended, or that continues. @param page the address of its page */
export function printBacktest(io: Io, backtest: Backtest, page: string): void {
  const { bold, dim, yellow } = paint(io);
  const { id, workflow_id: workflow, version, draft, status, message, runs, reasons = {}, first } = backtest;
  const subject = draft === true ? `draft based on version ${version}` : `version ${version}`;
  io.out(`${bold(id)}  ${workflow} ${subject}  ${status}\n`);
  io.out(
    `  ${plural(runs.total, "run")}: ${counts(runs)}${runs.pending > 0 ? `, ${runs.pending} pending` : ""}\n`,
  );
  const why = Object.entries(reasons).map(([reason, count]) => `${count} ${reason}`);
  if (why.length > 0) io.out(`  Not comparable: ${why.join(", ")}\n`);
  if (message !== null) io.out(`  ${yellow(message)}\n`);
  if (first.length > 0) printRuns(io, first, runs);
  printEffects(io, backtest.effects ?? []);
  printAmounts(io, backtest);
  io.out(`${dim(page)}\n`);
}

function printRuns(io: Io, first: readonly BacktestRun[], runs: Backtest["runs"]): void {
  const { bold, dim } = paint(io);
  io.out(`\n${bold("Runs")}\n`);
  for (const { run_id: run, result, difference } of first) {
    io.out(`  ${run}  ${result?.replace("_", " ") ?? "pending"}\n`);
    if (difference === undefined) continue;
    const { step, item, reason, message, differences, fix } = difference;
    // Most messages name the step themselves.
    const isNamed = item === undefined && message.includes(`"${step}"`);
    const where =
      step === undefined || isNamed ? "" : `${step}${item === undefined ? "" : `, item ${item}`}: `;
    io.out(`    ${where}${reason === undefined ? "" : `${reason}: `}${message}\n`);
    printDifferences(io, differences);
    if (fix !== undefined) io.out(`    ${dim(fix)}\n`);
  }
  const rest = runs.total - runs.pending - runs.equal - first.length;
  if (rest > 0)
    io.out(`  ${dim(`${plural(rest, "more run")} that ${rest === 1 ? "is" : "are"} not equal`)}\n`);
}

function printDifferences(io: Io, differences: readonly Difference[]): void {
  const { dim } = paint(io);
  for (const difference of differences.slice(0, SHOWN_DIFFERENCES))
    io.out(`    ${differenceLine(difference)}\n`);
  const rest = differences.length - SHOWN_DIFFERENCES;
  if (rest > 0) io.out(`    ${dim(plural(rest, "more field"))}\n`);
}

/** `rows[2].total: 41 → 42`, the values as JSON. */
const differenceLine = ({ path, before, after }: Difference): string =>
  `${path === "" ? "the whole value" : path}: ${valueText(before)} → ${valueText(after)}`;

const valueText = (value: unknown): string => (value === undefined ? "none" : JSON.stringify(value));

function printEffects(io: Io, effects: readonly BacktestEffect[]): void {
  if (effects.length === 0) return;
  const { bold } = paint(io);
  io.out(`\n${bold("Effects")}\n`);
  printTable(
    io,
    ["STEP", "TYPE", "UNCHANGED", "CHANGED", "ADDED", "REMOVED"],
    effects.map(({ step, type, unchanged, changed, added, removed }) => [
      step,
      type,
      ...[unchanged, changed, added, removed].map(String),
    ]),
  );
  for (const { step, first } of effects) {
    if (first === undefined) continue;
    io.out(`  ${step}, first in ${first.run_id}:\n`);
    printDifferences(io, first.differences);
  }
}

function printAmounts(io: Io, { step_ms: time, tokens, cost }: Backtest): void {
  const lines = [
    isUsed(time) && `Time of the steps: ${time.before} ms → ${time.after} ms`,
    isUsed(tokens) && `Tokens of models: ${tokens.before} → ${tokens.after}`,
    isUsed(cost) && `Cost of models: ${cost.before} → ${cost.after}`,
  ].filter((line) => typeof line === "string");
  if (lines.length > 0) io.out(`\n${lines.map((line) => `${line}\n`).join("")}`);
}

type Amount = NonNullable<Backtest["tokens"]>;

const isUsed = (amount: Amount | undefined): amount is Amount =>
  amount !== undefined && (amount.before > 0 || amount.after > 0);
