/** What the rows of a database say: its clock, its people and keys, and whether its work goes on. */
import { setTimeout as delay } from "node:timers/promises";
import type { AuthMode } from "../../../schemas/user.ts";
import { DAY, iso, MINUTE, SECOND, systemClock } from "../../core/clock.ts";
import {
  expiringApiKeys,
  firstReadyJob,
  type DatabaseInspection,
  latestTimestamp,
  stuckRuns,
} from "../../store/inspect.ts";
import { jobReader } from "../../store/jobs.ts";
import { userReader } from "../../store/users.ts";
import { plural } from "../plural.ts";
import { STATE, type CheckResult, checkResultsOf } from "./check-result.ts";

const state = checkResultsOf(STATE);
const work = checkResultsOf("Work");
const people = checkResultsOf("People");

/** Clocks of several hosts on one volume may be apart by so much. */
const CLOCK_SLACK_MS = 10 * SECOND;
/** Executors beat four times a lease: 2.5 s on a local file system. */
const BEATS_MS = 6 * SECOND;
const DUE_SLACK_MS = MINUTE;

type Read = DatabaseInspection["read"];

/**
 * @param local whether it is on a local file system: then executors beat often enough to be watched
 * @param mode how people sign in
 */
export async function* checkDatabaseRows(
  read: Read,
  local: boolean,
  mode: AuthMode,
): AsyncGenerator<CheckResult> {
  const now = systemClock.now();
  yield await future(read, now);
  yield* await lookAtPeople(read, now, mode);
  yield* await lookAtWork(read, local);
}

async function future(read: Read, now: number): Promise<CheckResult> {
  const latest = await latestTimestamp(read);
  const ahead = latest === undefined ? 0 : Date.parse(latest) - now;
  if (ahead <= CLOCK_SLACK_MS) return state.ok("time", "nothing was written in the future");
  return state.error(
    "time",
    `the newest entry is from ${latest}, ${Math.round(ahead / SECOND)} s ahead of this clock: it went back, or that of another host is ahead`,
    "Set the clocks of all hosts by NTP (chronyd, systemd-timesyncd) before anything else is started.",
  );
}

/** How somebody becomes an admin. */
const BY_LINK = {
  first: "Open the link that serve and start print, or run millrace users invite <address> --role admin.",
  again:
    "Run millrace users role <address> admin, and millrace users reset <address> for a link that lets them in.",
};
const BY_PROVIDER = {
  first:
    "Name the first admin's address in MILLRACE_ADMIN_EMAILS where serve is started, or map a group of theirs to admin in authentication.sign_on.groups; then they sign in.",
  again:
    "Name an admin's address in MILLRACE_ADMIN_EMAILS where serve is started, or map a group of theirs to admin in authentication.sign_on.groups; then they sign in again (who is deactivated: millrace users activate <address>).",
};

async function lookAtPeople(read: Read, now: number, mode: AuthMode): Promise<CheckResult[]> {
  const users = userReader(read);
  const advice = mode === "built-in" ? BY_LINK : BY_PROVIDER;
  const [any, admins, ending] = await Promise.all([
    users.exists(),
    users.count({ role: "admin", status: "active" }),
    expiringApiKeys(read, iso(now), iso(now + 30 * DAY)),
  ]);
  return [
    admins > 0
      ? people.ok("admins", plural(admins, "active admin"))
      : any
        ? people.error("admins", "there are users, but no active admin", advice.again)
        : people.warning("admins", "there is nobody yet", advice.first),
    ending.length === 0
      ? people.ok("API keys", "none ends within 30 days without a successor")
      : people.warning(
          "API keys",
          `end within 30 days: ${ending.map((it) => `${it.name} of ${it.owner} (${it.expires_at?.slice(0, 10)})`).join(", ")}`,
          "Rotate those that are still needed: millrace keys rotate <name>.",
        ),
  ];
}

async function lookAtWork(read: Read, local: boolean): Promise<CheckResult[]> {
  const jobs = jobReader(read);
  const [before, depth, first] = await Promise.all([jobs.executors(), jobs.depth(), firstReadyJob(read)]);
  const still = local ? await standingStill(before, jobs.executors) : [];
  const now = systemClock.now();
  const [after, due, stuck] = await Promise.all([
    firstReadyJob(read),
    jobs.nextDueAt(),
    stuckRuns(read, now),
  ]);
  const overdue = due !== null && Date.parse(due) < now - DUE_SLACK_MS;
  const waiting = depth.ready > 0 || overdue;
  const verdicts: CheckResult[] = [];

  if (before.length === 0)
    verdicts.push(
      waiting
        ? work.error("executors", "none is running, and work waits", "Start serve, mcp-sse or worker.")
        : work.ok("executors", "none is running, and nothing waits"),
    );
  else if (still.length > 0)
    verdicts.push(
      work.warning(
        "executors",
        `${still.length} of ${before.length} did not beat for ${BEATS_MS / SECOND} s: ${still.join(", ")}`,
        "Look again in a minute: dead ones are gone by then, those that are left need a look at their log.",
      ),
    );
  else verdicts.push(work.ok("executors", `${before.length}${local ? ", all beating" : " listed"}`));

  const said = `${depth.ready} ready, ${depth.claimed} in work, ${depth.later} for later`;
  const mend =
    "Look into the log of the executors; millrace runs --status running shows what they have in hand.";
  if (before.length > 0 && first !== undefined && first.id === after?.id && depth.claimed === 0)
    verdicts.push(
      work.warning(
        "queue",
        `${said}; the first, of run ${first.run_id} (made ${first.created_at}), is not taken`,
        mend,
      ),
    );
  else if (before.length > 0 && overdue)
    verdicts.push(work.warning("queue", `${said}; one was due at ${due} and is not taken`, mend));
  else verdicts.push(work.ok("queue", said));

  verdicts.push(
    stuck.length === 0
      ? work.ok("runs", "none is stuck")
      : work.error(
          "runs",
          `nothing is left that would carry these on: ${stuck.join(", ")}`,
          "Cancel and retry them (millrace runs cancel <run>), and report it with the log: this should not happen.",
        ),
  );
  return verdicts;
}

/** Those of the executors that have not beaten within the time in which each should. */
async function standingStill(
  before: readonly { id: string; heartbeats: number }[],
  executors: () => Promise<{ id: string; heartbeats: number }[]>,
): Promise<string[]> {
  const deadline = performance.now() + BEATS_MS;
  for (;;) {
    const now = new Map(before.length === 0 ? [] : (await executors()).map((it) => [it.id, it.heartbeats]));
    // One that is gone has ended in an orderly way, or was taken over.
    const still = before.filter(({ id, heartbeats }) => now.get(id) === heartbeats).map(({ id }) => id);
    if (still.length === 0 || performance.now() > deadline) return still;
    await delay(250);
  }
}
