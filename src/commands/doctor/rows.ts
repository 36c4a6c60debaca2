/** Checks the rows of the database: times, users, API keys, executors, the queue and runs. */
import { setTimeout as delay } from "node:timers/promises";
import type { AuthMode } from "../../../schemas/user.ts";
import { DAY, iso, MINUTE, SECOND, systemClock } from "../../core/clock.ts";
import {
  claimedJobs,
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

/** Maximum difference between the clocks of several hosts on one volume, in milliseconds. */
const CLOCK_SLACK_MS = 10 * SECOND;
/** How long a heartbeat is awaited, in milliseconds. Executors send one every 2.5 s on a local file system. */
const HEARTBEAT_LIMIT_MS = 6 * SECOND;
/** How late a job may start before the queue counts as stuck, in milliseconds. */
const DUE_SLACK_MS = MINUTE;
/** Number of heartbeats within which an executor reports a job that it has claimed: one may be in progress. */
const REPORTING_HEARTBEATS = 2;
const MAX_LISTED_CLAIMS = 20;

type Read = DatabaseInspection["read"];

/**
 * @param local whether the state is on a local file system, where heartbeats are frequent enough to wait for
 * @param mode how people sign in
 */
export async function* checkDatabaseRows(
  read: Read,
  local: boolean,
  mode: AuthMode,
): AsyncGenerator<CheckResult> {
  const now = systemClock.now();
  yield await checkTimes(read, now);
  yield* await checkPeople(read, now, mode);
  yield* await checkWork(read, local);
}

async function checkTimes(read: Read, now: number): Promise<CheckResult> {
  const latest = await latestTimestamp(read);
  const ahead = latest === undefined ? 0 : Date.parse(latest) - now;
  if (ahead <= CLOCK_SLACK_MS) return state.ok("time", "nothing was written in the future");
  return state.error(
    "time",
    `the newest entry is from ${latest}, ${Math.round(ahead / SECOND)} s ahead of this clock: this clock was set back, or the clock of another host is ahead`,
    "Synchronize the clocks of all hosts with NTP (chronyd, systemd-timesyncd) before you start anything else.",
  );
}

/** How to get an admin. */
const BY_LINK = {
  first: "Open the link that serve and start print, or run millrace users invite <email> --role admin.",
  again:
    "Run millrace users role <email> admin, then millrace users reset <email> for a link to sign in with.",
};
const BY_PROVIDER = {
  first:
    "Add the e-mail address of the first admin to MILLRACE_ADMIN_EMAILS where serve is started, or map one of their groups to admin in authentication.sign_on.groups. Then they must sign in.",
  again:
    "Add the e-mail address of an admin to MILLRACE_ADMIN_EMAILS where serve is started, or map one of their groups to admin in authentication.sign_on.groups. Then they must sign in again. To activate a deactivated user: millrace users activate <email>.",
};

async function checkPeople(read: Read, now: number, mode: AuthMode): Promise<CheckResult[]> {
  const users = userReader(read);
  const advice = mode === "built-in" ? BY_LINK : BY_PROVIDER;
  const [usersExist, admins, expiringKeys] = await Promise.all([
    users.exists(),
    users.count({ role: "admin", status: "active" }),
    expiringApiKeys(read, iso(now), iso(now + 30 * DAY)),
  ]);
  return [
    admins > 0
      ? people.ok("admins", plural(admins, "active admin"))
      : usersExist
        ? people.error("admins", "there are users, but no active admin", advice.again)
        : people.warning("admins", "there are no users yet", advice.first),
    expiringKeys.length === 0
      ? people.ok("API keys", "no key expires within 30 days without a replacement")
      : people.warning(
          "API keys",
          `expire within 30 days: ${expiringKeys.map(({ name, owner, expires_at: at }) => `${name} of ${owner} (${at?.slice(0, 10)})`).join(", ")}`,
          "Rotate those that are still needed: millrace keys rotate <name>.",
        ),
  ];
}

async function checkWork(read: Read, local: boolean): Promise<CheckResult[]> {
  const jobs = jobReader(read);
  const [before, depth, first] = await Promise.all([jobs.executors(), jobs.depth(), firstReadyJob(read)]);
  const silent = local ? await executorsWithoutHeartbeat(before, jobs.executors) : [];
  const now = systemClock.now();
  const [after, due, stuck] = await Promise.all([
    firstReadyJob(read),
    jobs.nextDueAt(iso(now)),
    stuckRuns(read, now),
  ]);
  const overdue = due !== null && Date.parse(due) < now - DUE_SLACK_MS;
  const waiting = depth.ready > 0 || overdue;
  const results: CheckResult[] = [];

  if (before.length === 0)
    results.push(
      waiting
        ? work.error("executors", "none is running, but jobs are waiting", "Start serve, mcp-sse or worker.")
        : work.ok("executors", "none is running, and no jobs are waiting"),
    );
  else if (silent.length > 0)
    results.push(
      work.warning(
        "executors",
        `${silent.length} of ${before.length} sent no heartbeat for ${HEARTBEAT_LIMIT_MS / SECOND} s: ${silent.join(", ")}`,
        "Run doctor again in a minute: executors that ended are removed by then. Check the logs of those that are still listed.",
      ),
    );
  else
    results.push(
      work.ok("executors", local ? `${before.length}, all send heartbeats` : `${before.length} listed`),
    );

  const counts = `${depth.ready} ready, ${depth.claimed} running, ${depth.later} due later`;
  const fix = "Check the logs of the executors. millrace runs --status running lists what they execute.";
  if (before.length > 0 && first !== undefined && first.id === after?.id && depth.claimed === 0)
    results.push(
      work.warning(
        "queue",
        `${counts}; no executor takes the first job, of run ${first.run_id} (created ${first.created_at})`,
        fix,
      ),
    );
  else if (before.length > 0 && overdue)
    results.push(work.warning("queue", `${counts}; no executor takes a job that was due at ${due}`, fix));
  else results.push(work.ok("queue", counts));

  results.push(
    stuck.length === 0
      ? work.ok("runs", "none is stuck")
      : work.error(
          "runs",
          `these runs have no jobs left and cannot continue: ${stuck.join(", ")}`,
          "Cancel them (millrace runs cancel <run>) and retry them. Report this as a bug, with the log.",
        ),
    ...(local ? [await checkClaims(read, silent)] : []),
    await checkSubscriptions(read),
  );
  return results;
}

/** Compares the claims in the database with the jobs that executors say they run. @param silent those whose jobs are reclaimed soon */
async function checkClaims(read: Read, silent: readonly string[]): Promise<CheckResult> {
  const { executors } = jobReader(read);
  const claims = await claimedJobs(read);
  let unreported = claims.filter((job) => !isReported(job) && !silent.includes(job.executor ?? ""));
  for (let round = 0; round < REPORTING_HEARTBEATS && unreported.length > 0; round += 1) {
    await executorsWithoutHeartbeat(await executors(), executors);
    const found = await claimedJobs(read);
    unreported = found.filter(
      (job) => !isReported(job) && unreported.some(({ id, fence }) => id === job.id && fence === job.fence),
    );
  }
  if (unreported.length === 0) return work.ok("claims", "executors run all jobs that they have claimed");
  const listed = unreported
    .slice(0, MAX_LISTED_CLAIMS)
    .map(({ executor, run_id: run }) => `${run} (${executor})`);
  return work.error(
    "claims",
    `${plural(unreported.length, "job")} claimed by executors that do not run them, of the runs ${listed.join(", ")}`,
    "Restart these executors: their jobs continue elsewhere. Report this as a bug, with the log.",
  );
}

const isReported = ({ id, fence, running }: { id: number; fence: number; running: string | null }): boolean =>
  running !== null &&
  (JSON.parse(running) as [id: number, fence: number][]).some(
    ([job, claim]) => job === id && claim === fence,
  );

/** Finds subscriptions whose receivers do not take what they are sent. */
async function checkSubscriptions(read: Read): Promise<CheckResult> {
  const failing = await read
    .selectFrom("subscriptions")
    .select(["id", "name", "paused_at", "pause_reason"])
    .where((eb) => eb.or([eb("failing_since", "is not", null), eb("paused_at", "is not", null)]))
    .orderBy("id")
    .limit(20)
    .execute();
  if (failing.length === 0) return work.ok("subscriptions", "none is failing or paused");
  const listed = failing.map(({ id, name, paused_at: paused, pause_reason: reason }) =>
    paused === null ? `${name} (${id}) fails` : `${name} (${id}) is paused: ${reason ?? ""}`,
  );
  return work.warning(
    "subscriptions",
    listed.join("; "),
    "See millrace subscriptions deliveries <subscription>. Correct the receiver, then millrace subscriptions change <subscription> --resume.",
  );
}

/** Waits for a heartbeat of each executor. @returns the ids of executors that sent none in time */
async function executorsWithoutHeartbeat(
  before: readonly { id: string; heartbeats: number }[],
  executors: () => Promise<{ id: string; heartbeats: number }[]>,
): Promise<string[]> {
  const deadline = performance.now() + HEARTBEAT_LIMIT_MS;
  for (;;) {
    const now = new Map(
      before.length === 0 ? [] : (await executors()).map(({ id, heartbeats }) => [id, heartbeats]),
    );
    // An executor that is no longer listed has stopped, or its jobs were reclaimed.
    const silent = before.filter(({ id, heartbeats }) => now.get(id) === heartbeats).map(({ id }) => id);
    if (silent.length === 0 || performance.now() > deadline) return silent;
    await delay(250);
  }
}
