/** What was looked at, what it came to, and what to do. */
import { AppError } from "../../core/errors.ts";
import { StepError } from "../../core/step-errors.ts";
import { type Io, paint } from "../io.ts";
import { plural } from "../plural.ts";

export interface CheckResult {
  /** The heading that it stands under. */
  group: string;
  what: string;
  verdict: "ok" | "warning" | "fault";
  detail: string;
  /** What to do, one sentence; of warnings and faults. */
  mend?: string;
}

/** The headings of what several modules look at. */
export const PROGRAM = "Program";
export const STATE = "State";

/** How long one look may take, in milliseconds. */
export const CHECK_TIMEOUT_MS = 10_000;

/** Makes the verdicts of one group. */
export const checkResultsOf = (group: string) => ({
  ok: (what: string, detail: string): CheckResult => ({ group, what, verdict: "ok", detail }),
  warning: (what: string, detail: string, mend: string): CheckResult => ({
    group,
    what,
    verdict: "warning",
    detail,
    mend,
  }),
  error: (what: string, detail: string, mend: string): CheckResult => ({
    group,
    what,
    verdict: "fault",
    detail,
    mend,
  }),
});

/**
 * One look: a fault where it fails or takes too long.
 * @param mend what to do where what failed does not say it itself
 * @param work gets a signal that is aborted when its time is up
 */
export async function runCheck(
  { group, what, mend }: Pick<CheckResult, "group" | "what"> & { mend: string },
  work: (signal: AbortSignal) => Promise<CheckResult | CheckResult[]>,
  limit = CHECK_TIMEOUT_MS,
): Promise<CheckResult[]> {
  const { error: fault } = checkResultsOf(group);
  const late = new AbortController();
  const { promise: tooLate, resolve } = Promise.withResolvers<CheckResult>();
  const timer = setTimeout(() => {
    resolve(fault(what, `no answer within ${limit / 1_000} s`, mend));
    late.abort(new StepError("timeout", `There was no answer within ${limit / 1_000} s.`));
  }, limit);
  try {
    return [await Promise.race([work(late.signal), tooLate])].flat();
  } catch (error) {
    return [fault(what, messageOf(error), fixOf(error) ?? mend)];
  } finally {
    clearTimeout(timer);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What an error of ours says to do about it. Those of the store say it in their message. */
function fixOf(error: unknown): string | undefined {
  if (error instanceof StepError) return error.options.fix;
  return error instanceof AppError ? "Do as it says." : undefined;
}

export const hasErrors = (verdicts: readonly CheckResult[]): boolean =>
  verdicts.some((it) => it.verdict === "fault");

/** Prints them by group, aligned, each mend below what it belongs to. */
export function printCheckResults(io: Io, verdicts: readonly CheckResult[]): void {
  const { green, yellow, red, bold, dim } = paint(io);
  const mark = { ok: green("ok     "), warning: yellow("warning"), fault: red("fault  ") };
  const width = Math.max(0, ...verdicts.map(({ what }) => what.length));
  const indent = " ".repeat("warning".length + 4);
  for (const group of new Set(verdicts.map((it) => it.group))) {
    io.out(`${bold(group)}\n`);
    for (const { what, verdict, detail, mend } of verdicts.filter((it) => it.group === group)) {
      io.out(`  ${mark[verdict]}  ${what.padEnd(width)}  ${detail.replaceAll("\n", `\n${indent}`)}\n`);
      if (mend !== undefined && verdict !== "ok") io.out(`${indent}${dim(mend)}\n`);
    }
  }
  const count = (verdict: CheckResult["verdict"]): number =>
    verdicts.filter((it) => it.verdict === verdict).length;
  io.out(`\n${count("ok")} ok, ${plural(count("warning"), "warning")}, ${plural(count("fault"), "fault")}\n`);
}
