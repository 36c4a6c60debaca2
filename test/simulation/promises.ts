/** Checks the promises: some at every write, the others when everything has ended. */
import Database from "better-sqlite3";
import { databaseFileIn } from "../../src/store/state-directory.ts";
import { installInvariantTriggers, issuesOfRuns } from "../support/run-invariants.ts";
import { COUNTING_WORKFLOW } from "../support/crash-workflows.ts";
import { BACKFILL_RUNS, type Promises } from "./clients.ts";
import type { Failure, FailurePlan } from "./failures.ts";
import type { Installation } from "./installation.ts";
import type { Peer } from "./peer.ts";
import {
  CALLED_WORKFLOW,
  HANDLING_WORKFLOW,
  RETRIED_WORKFLOW,
  HOPELESS_ATTEMPTS,
  PAYING_WORKFLOWS,
  RETRY_MS,
  simulatedWorkflows,
} from "./workflows.ts";

/** How long a request may be on its way when its attempt has begun, in milliseconds. */
const SENT_MS = 100;

const rule = (name: string, when: string, condition: string, subject: string): string =>
  `create trigger watched_${name} after ${when} when ${condition} begin
     insert into journal (what, subject, detail) values ('broken', ${subject}, '${name}'); end;`;

/** The run of a new or changed attempt has stopped or ended. */
const HAS_STOPPED =
  "exists (select 1 from runs where id = new.run_id and (stop is not null or finished_at is not null))";
/** A run of a workflow whose runs execute one at a time executes beside another one. */
const IS_NOT_ALONE = `new.admitted = 1 and new.workflow_id = '${COUNTING_WORKFLOW}' and exists
  (select 1 from runs where workflow_id = new.workflow_id and id <> new.id and admitted = 1 and finished_at is null)`;

/** Lets the database check each write. Violations are a part of `issuesOf`. */
export function watchWrites(stateDir: string): void {
  installInvariantTriggers(stateDir);
  const db = new Database(databaseFileIn(stateDir));
  db.exec(`
    ${rule(
      "begun_after_the_run_was_stopped",
      "insert on run_attempts",
      `new.status = 'running' and new.step_id not like 'undo:%' and ${HAS_STOPPED}`,
      "new.run_id",
    )}
    ${rule(
      "begun_again_after_the_run_was_stopped",
      "update of status on run_attempts",
      `new.status = 'running' and old.status <> 'running' and new.step_id not like 'undo:%' and ${HAS_STOPPED}`,
      "new.run_id",
    )}
    ${rule("several_runs_at_once", "insert on runs", IS_NOT_ALONE, "new.id")}
    ${rule(
      "cancelled_without_its_child_run",
      "update of status on runs",
      `new.status = 'cancelled' and exists (select 1 from runs c where c.parent_run = new.id and c.finished_at is null
       and c.stop is null and not exists (select 1 from jobs where run_id = c.id and kind = 'cancel'))`,
      "new.id",
    )}
    ${rule("several_runs_at_a_time", "update of admitted on runs", IS_NOT_ALONE, "new.id")}
  `);
  db.close();
}

interface Ended {
  db: Database.Database;
  stateDir: string;
  promises: Promises;
  peer: Peer;
  failures: Pick<FailurePlan, "rates">;
  installation: Pick<Installation, "endsCounted" | "reclaimedAlive">;
}

export function issuesOf(ended: Ended): string[] {
  const { db, stateDir, promises, peer, failures, installation } = ended;
  const byName = new Map(simulatedWorkflows.map((workflow) => [workflow.name, workflow]));
  const { acknowledged, cancelled, received } = promises;
  const isWithout = (...kinds: Failure[]): boolean => kinds.every((kind) => failures.rates[kind] === 0);
  return [
    ...issuesOfRuns(stateDir, {
      acknowledged,
      cancelled,
      received,
      calls: peer.calls,
      withoutCalls: [RETRIED_WORKFLOW],
      outputOf: (id, n) => byName.get(id)!.expectedOutput(n),
      errorOf: (id) => byName.get(id)!.failsWith,
      possibleErrorsOf: (id) => byName.get(id)!.mayFailWith ?? [],
    }),
    ...cancelIssues(db, promises),
    ...approvalIssues(db, promises),
    ...attemptIssues(db, { isTimed: isWithout("jump") }),
    ...handlerIssues(db),
    ...retryIssues(db, peer),
    ...keyIssues(peer),
    ...backfillIssues(db, promises),
    ...versionIssues(db),
    ...childIssues(db),
    ...deliveryIssues(db, peer),
    ...byteIssues(db),
    ...usageIssues(db),
    ...outgoingEventIssues(db),
    ...metricIssues(db, installation.endsCounted),
    // After a pause a process sends what it had decided to send before, although others have taken over.
    ...(isWithout("pause", "slow")
      ? [...paymentIssues(db, peer), ...settledIssues(promises, peer), ...lateCallIssues(promises, peer)]
      : []),
    ...(isWithout("pause", "slow") && peer.mostAtATime > 1
      ? [`${peer.mostAtATime} steps used the limited connection at a time`]
      : []),
    ...(isWithout("pause", "slow", "fail", "full", "loseAnswer") ? installation.reclaimedAlive : []),
  ];
}

const rows = <T>(db: Database.Database, sql: string): T[] => db.prepare(sql).all() as T[];

/** A run whose cancellation was confirmed does not succeed. */
function cancelIssues(db: Database.Database, { stopped }: Promises): string[] {
  return rows<{ id: string; status: string }>(db, "select id, status from runs where status = 'succeeded'")
    .filter(({ id }) => stopped.has(id))
    .map(({ id }) => `${id}: succeeded after its cancellation was confirmed`);
}

/** An approval that was confirmed stays approved. */
function approvalIssues(db: Database.Database, { approved }: Promises): string[] {
  return rows<{ id: string; status: string }>(
    db,
    "select id, status from approvals where status <> 'approved'",
  )
    .filter(({ id }) => approved.has(id))
    .map(({ id, status }) => `${id}: ${status} after its approval was confirmed`);
}

/** A step has the attempts that `retry` allows, with a pause between them. Those that died with their worker don't count. */
function attemptIssues(db: Database.Database, { isTimed }: { isTimed: boolean }): string[] {
  const many = rows<{ id: string; count: number }>(
    db,
    `select a.run_id as id, count(*) as count from run_attempts a join runs r on r.id = a.run_id
     where r.workflow_id = 'hopeless' and a.status = 'failed' and r.error not like '%"poisoned"%'
     group by a.run_id having count(*) <> ${HOPELESS_ATTEMPTS} and max(r.status) = 'failed'`,
  );
  const early = rows<{ place: string; ms: number }>(
    db,
    `select a.run_id || '/' || a.step_id as place,
       (julianday(b.started_at) - julianday(a.finished_at)) * 86400000 as ms
     from run_attempts a join run_attempts b on b.run_id = a.run_id and b.step_id = a.step_id and b.item = a.item
       and b.attempt = a.attempt + 1
     where a.status = 'failed' and a.step_id not like 'undo:%'
       and not exists (select 1 from interruptions i where i.run_id = a.run_id and i.step_id = a.step_id) and ms < ${RETRY_MS / 2 - 2}`,
  );
  return [
    ...many.map(({ id, count }) => `${id}: has ${count} failed attempts`),
    ...(isTimed ? early : []).map(({ place, ms }) => `${place}: was tried again after ${Math.round(ms)} ms`),
  ];
}

/** Nothing of a run is called after its cancellation was confirmed, except to undo it. */
function lateCallIssues({ stopped }: Promises, peer: Peer): string[] {
  return peer.calls
    .filter(({ stepRef, at }) => {
      const [runId, stepId] = stepRef.split("/") as [string, string];
      return at > (stopped.get(runId) ?? Infinity) + SENT_MS && !stepId.startsWith("undo:");
    })
    .map(({ stepRef }) => `${stepRef}: was called after the cancellation of its run was confirmed`);
}

/** An effect that a person has settled as having happened is not sent again. */
function settledIssues({ happened }: Promises, peer: Peer): string[] {
  return peer.calls
    .filter(({ key, at }) => at > (happened.get(key) ?? Infinity) + SENT_MS)
    .map(({ stepRef }) => `${stepRef}: was called after a person had settled that it happened`);
}

/** A step has one child run for each item and iteration. */
function childIssues(db: Database.Database): string[] {
  return rows<{ parent: string; count: number }>(
    db,
    `select parent_run || '/' || parent_step || '/' || coalesce(parent_item, -1) as parent, count(*) as count from runs
     where parent_run is not null and retry_of is null group by 1, workflow_id having count(*) > 1`,
  ).map(({ parent, count }) => `${parent}: has ${count} child runs`);
}

/** Metrics count no end of a run twice, and none that was rolled back. A process that dies after a commit counts less. */
function metricIssues(db: Database.Database, counted: number): string[] {
  const ended = db.prepare("select count(*) from runs where finished_at is not null").pluck().get() as number;
  return counted <= ended ? [] : [`${counted} ends of runs were counted, and ${ended} have ended`];
}

/** Each end of a run was delivered to the subscription, with one id however often. */
function deliveryIssues(db: Database.Database, peer: Peer): string[] {
  return rows<{ id: string; status: string }>(
    db,
    "select id, status from runs where finished_at is not null and status in ('succeeded', 'failed') and parent_run is null",
  ).flatMap(({ id, status }) => {
    const ids = peer.delivered.get(`run.${status} ${id}`)?.size ?? 0;
    return ids === 1 ? [] : [`${id}: its event run.${status} was delivered with ${ids} ids`];
  });
}

/** After an approval that version of the called workflow runs with which the run began. */
function versionIssues(db: Database.Database): string[] {
  return rows<{ id: string; version: number; pinned: number }>(
    db,
    `select c.id, c.version, json_extract(r.pins, '$.${CALLED_WORKFLOW}') as pinned from runs c
     join runs r on r.id = c.parent_run where c.workflow_id = '${CALLED_WORKFLOW}' and c.version is not pinned`,
  ).map(({ id, version, pinned }) => `${id}: runs version ${version}, and ${pinned} was approved`);
}

/** Each failure is handled by one run. */
function handlerIssues(db: Database.Database): string[] {
  return rows<{ failures: number; handled: number; distinct_inputs: number }>(
    db,
    `select (select count(*) from runs where workflow_id = 'alarmed' and status = 'failed') as failures,
       count(*) as handled, count(distinct inputs) as distinct_inputs from runs where workflow_id = '${HANDLING_WORKFLOW}'`,
  ).flatMap(({ failures, handled, distinct_inputs: distinct }) =>
    failures === handled && handled === distinct
      ? []
      : [`${failures} failures were handled by ${handled} runs, ${distinct} of them different`],
  );
}

/** A retry executes nothing again that had succeeded, and succeeds; all its calls of a step have one key, as those of the first run. */
function retryIssues(db: Database.Database, peer: Peer): string[] {
  const again = rows<{ id: string }>(
    db,
    `select r.id from runs r join run_steps a on a.run_id = r.id and a.step_id = 'a' and a.reused_from is null
     join run_steps s on s.run_id = r.retry_of and s.step_id = 'a' and s.state = 's'
     where r.workflow_id = '${RETRIED_WORKFLOW}'`,
  );
  const failed = rows<{ id: string; error: string }>(
    db,
    `select id, error from runs where workflow_id = '${RETRIED_WORKFLOW}' and retry_of is not null and status = 'failed'`,
  );
  return [
    ...again.map(({ id }) => `${id}: executes a step again that had succeeded`),
    ...failed.map(({ id, error }) => `${id}: a retry failed (${error})`),
    ...[...keysByPath(peer.ledger)].flatMap(([path, keys]) =>
      keys.size === 1 ? [] : [`${path}: has the keys ${[...keys].join(", ")}`],
    ),
  ];
}

function keysByPath(calls: readonly { path: string; key: string }[]): Map<string, Set<string>> {
  const keys = new Map<string, Set<string>>();
  for (const { path, key } of calls) keys.set(path, (keys.get(path) ?? new Set()).add(key));
  return keys;
}

/** An idempotency key belongs to one step or item. */
function keyIssues(peer: Peer): string[] {
  const places = new Map<string, Set<string>>();
  const calls = [
    ...peer.calls.map(({ stepRef, key }) => ({ place: stepRef, key })),
    ...peer.ledger.map(({ path, key }) => ({ place: path, key })),
  ];
  for (const { place, key } of calls) places.set(key, (places.get(key) ?? new Set()).add(place));
  return [...places].flatMap(([key, of]) =>
    of.size === 1 ? [] : [`the key ${key} belongs to ${[...of].join(" and ")}`],
  );
}

/** A backfill starts one run for each of its slots. */
function backfillIssues(db: Database.Database, { backfilled }: Promises): string[] {
  const slots = rows<{ slot: string; count: number }>(
    db,
    "select scheduled_for as slot, count(*) as count from runs where trigger = 'backfill' group by 1",
  );
  const twice = slots.filter(({ count }) => count > 1);
  return [
    ...twice.map(({ slot, count }) => `the backfill has ${count} runs for ${slot}`),
    ...(backfilled && slots.length !== BACKFILL_RUNS
      ? [`the backfill has runs for ${slots.length} slots`]
      : []),
  ];
}

/** Each end of a run is one event. */
function outgoingEventIssues(db: Database.Database): string[] {
  return rows<{ id: string; type: string; count: number }>(
    db,
    `select run_id as id, type, count(*) as count from outgoing_events
     where type in ('run.succeeded', 'run.failed') group by run_id having count(*) > 1`,
  ).map(({ id, type, count }) => `${id}: has ${count} events ${type}`);
}

/** The stored bytes of an owner are counted. */
function byteIssues(db: Database.Database): string[] {
  return rows<{ subject: string; missing: number }>(
    db,
    `select subject, sum(bytes) as missing from (
       select case when owner = 'operator' then lineage else owner end as subject, stored_bytes as bytes from runs
       union all select subject, stored_bytes from workflow_versions
       union all select subject, stored_bytes from workflow_states
       union all select subject, stored_bytes from state_changes
       union all select subject, -bytes from stored_bytes
     ) group by subject having sum(bytes) <> 0`,
  ).map(({ subject, missing }) => `the stored bytes of ${subject} are wrong by ${missing}`);
}

/** Each start of a run is counted once in the hourly limit. */
function usageIssues(db: Database.Database): string[] {
  const [counted] = rows<{ used: number; runs: number }>(
    db,
    "select (select coalesce(sum(used), 0) from usage_counts where kind = 'runs') as used, (select count(*) from runs) as runs",
  );
  return counted!.used === counted!.runs
    ? []
    : [`${counted!.used} starts are counted for ${counted!.runs} runs`];
}

/** A payment is performed once where a person or a lookup is asked before it is sent again. */
function paymentIssues(db: Database.Database, peer: Peer): string[] {
  const names = PAYING_WORKFLOWS.map((name) => `'${name}'`).join(", ");
  const ids = new Set(
    rows<{ id: string }>(db, `select id from runs where workflow_id in (${names})`).map(({ id }) => id),
  );
  const counts = new Map<string, number>();
  for (const { stepRef, done } of peer.calls)
    if (done && ids.has(stepRef.split("/")[0]!)) counts.set(stepRef, (counts.get(stepRef) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > 1)
    .map(([stepRef, count]) => `${stepRef}: paid ${count} times`);
}
