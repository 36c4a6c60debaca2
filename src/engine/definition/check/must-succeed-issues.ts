/** Checks within which time a workflow must succeed, and who gets a mail when it has not. */
import { Duration } from "../../../../schemas/field-values.ts";
import { DAY, MINUTE } from "../../../core/clock.ts";
import type { Mailer } from "../../../core/connections.ts";
import { durationMs } from "../../../core/duration.ts";
import { recipientIssues } from "../../../steps/recipient-issues.ts";
import { nextTimes } from "../schedule-times.ts";
import { type LocatedIssue, prefixPath } from "./check-report.ts";

type Top = Readonly<Record<string, unknown>>;

const FIELD = "must_succeed";
const SHORTEST = { text: "1m", ms: MINUTE };
const LONGEST = { text: "366d", ms: 366 * DAY };
/** Number of times of a schedule between which the longest pause is searched. */
const TIMES = 20;

interface Options {
  /** Undefined where connections are not checked. */
  mailer: Mailer | undefined;
  isActiveUser: ((email: string) => Promise<boolean>) | undefined;
  /** The present time, in milliseconds since 1970. */
  now: number;
}

/** @param topLevel the definition as it was written */
export async function mustSucceedIssues(
  { [FIELD]: written, schedule }: Top,
  options: Options,
): Promise<LocatedIssue[]> {
  if (!isObject(written)) return [];
  return [
    ...everyIssues(written["every"], schedule, options.now),
    ...(await mailIssues(written["mail"], options)),
  ];
}

const isObject = (value: unknown): value is Top =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function everyIssues(every: unknown, schedule: unknown, now: number): LocatedIssue[] {
  // The schema reports a value that is not a duration.
  if (!Duration.safeParse(every).success) return [];
  const path = [FIELD, "every"];
  const ms = durationMs(every as string);
  const bound = ms < SHORTEST.ms ? SHORTEST : ms > LONGEST.ms ? LONGEST : undefined;
  if (bound !== undefined) {
    const word = bound === SHORTEST ? "at least" : "at most";
    return [
      {
        path,
        code: bound === SHORTEST ? "too_small" : "too_large",
        message: `must be ${word} ${bound.text}, got ${String(every)}`,
        fix: `Write ${bound.text} or ${bound === SHORTEST ? "more" : "less"}.`,
        patch: [{ op: "replace", path, value: bound.text }],
      },
    ];
  }
  const pause = longestPause(schedule, now);
  if (pause === undefined || pause < ms) return [];
  return [
    {
      path,
      code: "shorter_than_schedule",
      severity: "warning",
      message: `is not longer than the ${hours(pause)} between two times of the schedule, so there would be an alert before each run ends`,
      fix: `Write more than ${hours(pause)}, with the time that a run takes.`,
    },
  ];
}

const hours = (ms: number): string =>
  ms % (60 * MINUTE) === 0 ? `${ms / (60 * MINUTE)}h` : `${Math.ceil(ms / MINUTE)}m`;

/** The longest time between two of the next times of a schedule, in milliseconds; undefined for one with issues. */
function longestPause(schedule: unknown, now: number): number | undefined {
  if (!isObject(schedule)) return undefined;
  const { cron, timezone = "UTC" } = schedule;
  if (typeof cron !== "string" || typeof timezone !== "string") return undefined;
  try {
    const times = nextTimes({ cron, timezone }, now, TIMES);
    return times.length < 2
      ? undefined
      : Math.max(...times.slice(1).map((time, index) => time - times[index]!));
  } catch {
    return undefined;
  }
}

/** Mail goes to users of the instance, and to the domains that email steps can send to. */
async function mailIssues(mail: unknown, { mailer, isActiveUser }: Options): Promise<LocatedIssue[]> {
  if (mailer === undefined || !Array.isArray(mail) || mail.length === 0) return [];
  if (mailer.unavailableReason() !== null)
    return [
      {
        path: [FIELD, "mail"],
        code: "no_mail",
        severity: "warning",
        message: "gets no mail, because no mail server is configured",
        fix: "Ask the operator to set authentication.basic in the configuration, or subscribe to workflow.overdue (POST /subscriptions).",
      },
    ];
  const issues = recipientIssues("mail", { mail } as never, mailer);
  const refused: LocatedIssue[] = [];
  for (const issue of issues) {
    const address = mail[Number(issue.path?.[1])] as unknown;
    if (issue.code === "mail_refused" && (await isActiveUser?.(String(address))) === true) continue;
    refused.push(prefixPath([FIELD], issue));
  }
  return refused;
}
