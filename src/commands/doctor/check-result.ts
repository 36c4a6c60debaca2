/** The results of checks, and how they are printed. */
import { AppError } from "../../core/errors.ts";
import { StepError } from "../../core/step-errors.ts";
import { type Io, paint } from "../io.ts";
import { plural } from "../plural.ts";

export interface CheckResult {
  /** The heading under which the check is printed. */
  group: string;
  check: string;
  status: "ok" | "warning" | "error";
  detail: string;
  /** What to do about a warning or an error, in one or two sentences. */
  fix?: string;
}

/** Headings that several modules use. */
export const PROGRAM = "Program";
export const STATE = "State";

/** Time limit of a check, in milliseconds. */
export const CHECK_TIMEOUT_MS = 10_000;

/** Returns functions that create the results of one group. */
export const checkResultsOf = (group: string) => ({
  ok: (check: string, detail: string): CheckResult => ({ group, check, status: "ok", detail }),
  warning: (check: string, detail: string, fix: string): CheckResult => ({
    group,
    check,
    status: "warning",
    detail,
    fix,
  }),
  error: (check: string, detail: string, fix: string): CheckResult => ({
    group,
    check,
    status: "error",
    detail,
    fix,
  }),
});

/**
 * Runs a check. If it throws or takes too long, the result is an error.
 * @param fix what to do, unless the thrown error says it
 * @param work gets a signal that is aborted at the time limit
 * @param limit time limit in milliseconds
 */
export async function runCheck(
  { group, check, fix }: Pick<CheckResult, "group" | "check"> & { fix: string },
  work: (signal: AbortSignal) => Promise<CheckResult | CheckResult[]>,
  limit = CHECK_TIMEOUT_MS,
): Promise<CheckResult[]> {
  const { error: failed } = checkResultsOf(group);
  const timeout = new AbortController();
  const { promise: timedOut, resolve } = Promise.withResolvers<CheckResult>();
  const timer = setTimeout(() => {
    resolve(failed(check, `no answer within ${limit / 1_000} s`, fix));
    timeout.abort(new StepError("timeout", `There was no answer within ${limit / 1_000} s.`));
  }, limit);
  try {
    return [await Promise.race([work(timeout.signal), timedOut])].flat();
  } catch (error) {
    return [failed(check, messageOf(error), fixOf(error) ?? fix)];
  } finally {
    clearTimeout(timer);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The fix that an error names. An AppError says it in its message. */
function fixOf(error: unknown): string | undefined {
  if (error instanceof StepError) return error.options.fix;
  return error instanceof AppError ? "Follow the instructions in the message." : undefined;
}

export const hasErrors = (results: readonly CheckResult[]): boolean =>
  results.some(({ status }) => status === "error");

/** Prints results by group, in aligned columns, each fix below its result. */
export function printCheckResults(io: Io, results: readonly CheckResult[]): void {
  const { green, yellow, red, bold, dim } = paint(io);
  const label = { ok: green("ok     "), warning: yellow("warning"), error: red("error  ") };
  const width = Math.max(0, ...results.map(({ check }) => check.length));
  const indent = " ".repeat("warning".length + 4);
  for (const group of new Set(results.map((result) => result.group))) {
    io.out(`${bold(group)}\n`);
    for (const { check, status, detail, fix } of results.filter((result) => result.group === group)) {
      io.out(`  ${label[status]}  ${check.padEnd(width)}  ${detail.replaceAll("\n", `\n${indent}`)}\n`);
      if (fix !== undefined && status !== "ok") io.out(`${indent}${dim(fix)}\n`);
    }
  }
  const count = (status: CheckResult["status"]): number =>
    results.filter((result) => result.status === status).length;
  io.out(`\n${count("ok")} ok, ${plural(count("warning"), "warning")}, ${plural(count("error"), "error")}\n`);
}
