/**
 * Checks invariants of runs after failures of their processes. Triggers in the database see every write in order, and record
 * violations.
 */
import { join } from "node:path";
import Database from "better-sqlite3";
import { nextTime } from "../../src/engine/definition/schedule-times.ts";

const RECORDED = "('s', 'k', 'e', 'f')";
const SAME_UNIT = (table: string): string =>
  `${table}.run_id = new.run_id and ${table}.step_id = new.step_id and ${table}.item = new.item`;

/** An invariant; a violation is recorded as a line with its name and subject. */
const rule = (name: string, when: string, condition: string, subject = "new.run_id"): string => `
  create trigger journal_${name} after ${when} when ${condition} begin
    insert into journal (what, subject, detail)
    values ('broken', ${subject}, '${name}' ${when.endsWith("on runs") ? "" : "|| ' ' || new.step_id || ' ' || new.item"});
  end;`;

const JOURNAL = `
  create table if not exists journal (id integer primary key autoincrement, what text, subject text, detail text);
  create trigger journal_ended after update on runs when old.finished_at is null and new.finished_at is not null begin
    insert into journal (what, subject, detail) values ('ended', new.id, new.status);
  end;
  create trigger journal_advanced after update on schedules when old.next_at is not new.next_at begin
    insert into journal (what, subject, detail) values ('advanced', new.workflow_id, json_object(
      'from', old.next_at, 'last', new.last_at, 'to', new.next_at, 'cron', new.cron, 'timezone', new.timezone,
      'skipped', json(case when new.skipped is old.skipped then null else new.skipped end)));
  end;
  create trigger journal_scheduled after insert on runs when new.trigger = 'schedule' begin
    insert into journal (what, subject, detail) values ('scheduled', new.workflow_id, new.scheduled_for);
  end;
  ${rule(
    "ended_run_changed",
    "update on runs",
    `old.finished_at is not null and (new.finished_at is not old.finished_at or new.status is not old.status
      or new.output is not old.output or new.states is not old.states)`,
    "new.id",
  )}
  ${rule(
    "recorded_step_written_again",
    "update on run_steps",
    `old.state in ${RECORDED} and old.items_total is null`,
  )}
  ${["insert", "update"]
    .map((verb) =>
      rule(
        `written_without_the_job_${verb}`,
        `${verb} on run_steps`,
        `(new.state in ('s', 'k', 'e', 'f', 'w') and new.items_total is null
          or new.items_total is not null and new.items_done = 0 and new.state = 'r' ${verb === "update" ? "and old.items_total is null" : ""})
         and exists (select 1 from jobs where kind in ('step', 'undo') and ${SAME_UNIT("jobs")})`,
      ),
    )
    .join("\n")}
  ${rule(
    "begun_after_its_record",
    "insert on run_attempts",
    `new.status = 'running' and exists
      (select 1 from run_steps where ${SAME_UNIT("run_steps")} and state in ${RECORDED})`,
  )}
  ${rule(
    "begun_without_the_job",
    "insert on run_attempts",
    `new.status = 'running' and new.executor is not null and not exists
      (select 1 from jobs where kind in ('step', 'undo') and state = 'claimed' and executor = new.executor
        and attempt = new.attempt and ${SAME_UNIT("jobs")})`,
  )}
  ${rule(
    "interrupted_attempt_written",
    "update on run_attempts",
    "old.status = 'interrupted' and new.status <> 'interrupted'",
  )}`;

/** Removes the triggers from a database that no process has open; recorded violations stay. */
export function removeInvariantTriggers(file: string): void {
  const db = new Database(file);
  const names = db.prepare("select name from sqlite_schema where type = 'trigger'").pluck().all() as string[];
  for (const name of names) db.exec(`drop trigger "${name}"`);
  db.close();
}

/** Installs the triggers in an existing state directory. */
export function installInvariantTriggers(stateDir: string): void {
  const db = new Database(join(stateDir, "millrace.db"));
  db.exec(JOURNAL);
  db.close();
}

/** A call that the mock server received: its step and its idempotency key. */
export interface RecordedCall {
  stepRef: string;
  key: string;
}

export interface ExpectedOutcome {
  /** Ids of the acknowledged runs. */
  acknowledged: readonly string[];
  /** Ids of runs that may have been cancelled. */
  cancelled: ReadonlySet<string>;
  /** Ids of runs whose event was acknowledged. */
  received: readonly string[];
  calls: readonly RecordedCall[];
  /** Workflows whose calls are not among these. */
  withoutCalls?: readonly string[];
  /** The expected output of a successful run. */
  outputOf(workflowId: string, n: number): unknown;
  /** The code of the error that the runs of a workflow fail with; undefined if they succeed. */
  errorOf(workflowId: string): string | undefined;
  /** The codes of errors that some of its runs may fail with. */
  possibleErrorsOf?(workflowId: string): readonly string[];
}

/** Returns all violations after all runs have ended. */
export function issuesOfRuns(stateDir: string, expected: ExpectedOutcome): string[] {
  const db = new Database(join(stateDir, "millrace.db"), { readonly: true });
  try {
    return [
      ...journalIssues(db),
      ...runIssues(db, expected),
      ...callIssues(db, expected),
      ...undoIssues(db),
      ...scheduleIssues(db),
      ...commitIssues(db),
      ...eventIssues(db, expected.received),
      ...unfinishedWork(db),
    ];
  } finally {
    db.close();
  }
}

const rows = <T>(db: Database.Database, sql: string, ...values: unknown[]): T[] =>
  db.prepare(sql).all(...values) as T[];

function journalIssues(db: Database.Database): string[] {
  const broken = rows<{ subject: string; detail: string; count: number }>(
    db,
    "select subject, detail, count(*) as count from journal where what = 'broken' group by subject, detail",
  );
  const twice = rows<{ subject: string }>(
    db,
    "select subject from journal where what = 'ended' group by subject having count(*) > 1",
  );
  return [
    ...broken.map(({ subject, detail, count }) => `${subject}: ${detail} (${count} times)`),
    ...twice.map(({ subject }) => `${subject}: ended more than once`),
  ];
}

interface RunRow {
  id: string;
  workflow_id: string;
  parent_run: string | null;
  status: string;
  states: string;
  finished_at: string | null;
  inputs: string;
  output: string | null;
  error: string | null;
  definition: string;
}

function runIssues(
  db: Database.Database,
  { acknowledged, cancelled, outputOf, errorOf, possibleErrorsOf = () => [] }: ExpectedOutcome,
): string[] {
  const issues: string[] = [];
  const runs = rows<RunRow>(
    db,
    `select r.*, v.definition from runs r join workflow_versions v using (workflow_id, version)`,
  );
  const ids = new Set(runs.map(({ id }) => id));
  for (const id of acknowledged) if (!ids.has(id)) issues.push(`${id}: was acknowledged and is missing`);
  for (const run of runs) {
    const { id, status, states } = run;
    if (run.finished_at === null) issues.push(`${id}: never ended (${status}, ${states})`);
    const code = errorOf(run.workflow_id);
    const possible = [...(code === undefined ? [] : [code]), ...possibleErrorsOf(run.workflow_id)];
    const ended =
      (code === undefined && status === "succeeded") || possible.some((it) => run.error?.includes(`"${it}"`));
    const expected = status === "cancelled" ? cancelled.has(id) || run.parent_run !== null : ended;
    // The only failure that a crash may cause: a step that ran isolated was killed too often.
    if (!expected && !String(run.error).includes('"poisoned"'))
      issues.push(`${id}: ${status} (${run.error})`);
    if (status === "succeeded") {
      const { n } = JSON.parse(run.inputs) as { n: number };
      const expectedOutput = JSON.stringify(outputOf(run.workflow_id, n));
      if (run.output !== expectedOutput)
        issues.push(`${id}: has the output ${run.output}, expected ${expectedOutput}`);
    }
    issues.push(...stateIssues(db, run));
  }
  return issues;
}

/** The states in a run equal those of its steps; an ended run has no step in progress. */
function stateIssues(db: Database.Database, { id, states, definition }: RunRow): string[] {
  const issues: string[] = [];
  const steps = rows<{ step_id: string; item: number; state: string; done: number | null; total: number }>(
    db,
    "select step_id, item, state, items_done as done, items_total as total from run_steps where run_id = ?",
    id,
  );
  const ids = (JSON.parse(definition) as { steps: { id: string }[] }).steps.map((step) => step.id);
  if (/[^skefc]/.test(states)) issues.push(`${id}: ended with its steps ${states}`);
  for (const { step_id: stepId, item, state, done, total } of steps) {
    if (stepId.startsWith("undo:")) continue;
    const letter = states[ids.indexOf(stepId)];
    // Cancelled runs keep their last states, which nothing reads.
    if (letter === "c") continue;
    if (item === -1 && state !== letter) issues.push(`${id}: ${stepId} is ${state}, the run says ${letter}`);
    if (item === -1 && letter === "s" && done !== null && done !== total)
      issues.push(`${id}: ${stepId} has ended with ${done} of ${total} items`);
    // An item may fail where the step continues on errors.
    if (item !== -1 && letter === "s" && state !== "s" && state !== "e")
      issues.push(`${id}: ${stepId}[${item}] is ${state}`);
  }
  for (const [index, letter] of states.split("").entries())
    if (letter === "s" && !steps.some((step) => step.step_id === ids[index]))
      issues.push(`${id}: ${ids[index]} succeeded without a record`);
  return issues;
}

/** Every call belongs to a started attempt, and every successful attempt has a call. */
function callIssues(db: Database.Database, { calls, withoutCalls = [] }: ExpectedOutcome): string[] {
  const issues: string[] = [];
  const seen = new Map<string, { count: number; keys: Set<string> }>();
  for (const { stepRef, key } of calls) {
    const entry = seen.get(stepRef) ?? { count: 0, keys: new Set() };
    entry.count += 1;
    entry.keys.add(key);
    seen.set(stepRef, entry);
  }
  const attempts = new Map(
    rows<{ stepRef: string; count: number }>(
      db,
      `select run_id || '/' || step_id || '/' || item as stepRef, count(*) as count from run_attempts group by 1`,
    ).map(({ stepRef, count }) => [stepRef, count]),
  );
  for (const [stepRef, { count, keys }] of seen) {
    const started = attempts.get(stepRef) ?? 0;
    if (count > started) issues.push(`${stepRef}: ${count} calls by ${started} attempts`);
    if (keys.size !== 1) issues.push(`${stepRef}: several idempotency keys (${[...keys].join(", ")})`);
  }
  const succeeded = rows<{ stepRef: string; workflowId: string }>(
    db,
    `select s.run_id || '/' || s.step_id || '/' || s.item as stepRef, r.workflow_id as workflowId
     from run_steps s join runs r on r.id = s.run_id
     where s.state = 's' and s.items_total is null and s.output like '%"headers"%'`,
  );
  for (const { stepRef, workflowId } of succeeded)
    if (!seen.has(stepRef) && !withoutCalls.includes(workflowId))
      issues.push(`${stepRef}: succeeded without a call`);
  return issues;
}

/** Each succeeded run of a workflow with state has committed once, and no other run has. */
function commitIssues(db: Database.Database): string[] {
  const counted = rows<{ id: string; revision: number; body: string; succeeded: number; other: number }>(
    db,
    `select s.workflow_id as id, s.revision, s.body,
       (select count(*) from runs r where r.workflow_id = s.workflow_id and r.status = 'succeeded') as succeeded,
       (select count(*) from runs r where r.workflow_id = s.workflow_id
         and (r.status = 'succeeded') <> (r.committed is not null)) as other
     from workflow_states s`,
  );
  const issues: string[] = [];
  for (const { id, revision, body, succeeded, other } of counted) {
    const { count } = JSON.parse(body) as { count: number };
    if (count !== succeeded) issues.push(`${id}: counted ${count}, but ${succeeded} runs succeeded`);
    if (revision !== succeeded + 1) issues.push(`${id}: revision ${revision} after ${succeeded} commits`);
    if (other !== 0) issues.push(`${id}: ${other} runs committed without success, or the reverse`);
  }
  return issues;
}

/** Each acknowledged event was recorded, and is the output of its step if the step has succeeded. */
function eventIssues(db: Database.Database, received: readonly string[]): string[] {
  const recorded = new Map(
    rows<{ id: string; body: string; output: string | null }>(
      db,
      `select e.run_id as id, e.body, s.output from events e
       left join run_steps s on s.run_id = e.run_id and s.step_id = e.step_id and s.item = -1 and s.state = 's'`,
    ).map((event) => [event.id, event]),
  );
  const twice = received.filter((id, index) => received.indexOf(id) !== index);
  return [
    ...twice.map((id) => `${id}: its event was accepted twice`),
    ...received.filter((id) => !recorded.has(id)).map((id) => `${id}: its event is lost`),
    ...[...recorded.values()].flatMap(({ id, body, output }) =>
      output === null || JSON.stringify((JSON.parse(output) as { body: unknown }).body) === body
        ? []
        : [`${id}: has the output ${output} for the event ${body}`],
    ),
  ];
}

/**
 * In a run that did not succeed, each step with an undo is undone once, the last one that succeeded first. Compares the
 * sequence numbers of changes, because the clock may jump.
 */
function undoIssues(db: Database.Database): string[] {
  const steps = rows<{ run_id: string; step_id: string; item: number; undone: string | null }>(
    db,
    `select s.run_id, s.step_id, s.item, u.state as undone from run_steps s
     join runs r on r.id = s.run_id and r.status <> 'succeeded' and r.workflow_id = 'saga'
     left join run_steps u on u.run_id = s.run_id and u.step_id = 'undo:' || s.step_id and u.item = s.item
     where s.state = 's' and s.items_total is null and s.step_id not like 'undo:%'`,
  );
  const order = rows<{ run_id: string }>(
    db,
    `select a.run_id from run_steps a join run_steps b on b.run_id = a.run_id and b.item >= 0
     where a.step_id = 'undo:first' and b.step_id = 'undo:each' and b.seq > a.seq`,
  );
  const early = rows<{ run_id: string }>(
    db,
    `select u.run_id from run_steps u join runs r on r.id = u.run_id
     where u.step_id like 'undo:%' and u.seq > r.seq`,
  );
  return [
    ...steps
      .filter(({ undone }) => undone !== "s" && undone !== "f")
      .map(({ run_id: id, step_id: step, item }) => `${id}: ${step}[${item}] was not undone`),
    ...order.map(({ run_id: id }) => `${id}: the first step was undone before the others`),
    ...early.map(({ run_id: id }) => `${id}: ended before its steps were undone`),
  ];
}

interface Advance {
  from: string;
  to: string;
  cron: string;
  timezone: string;
  skipped: { count: number; first: string; last: string } | null;
}

/**
 * Each time of a schedule created one run, or was recorded as skipped. A clock that is ahead skips times that run later: its schedule is
 * set back before, and their record goes.
 */
function scheduleIssues(db: Database.Database): string[] {
  const issues: string[] = [];
  const made = rows<{ id: string; moment: string; count: number }>(
    db,
    `select workflow_id as id, scheduled_for as moment, count(*) as count from runs
     where trigger = 'schedule' group by 1, 2`,
  );
  for (const { id, moment, count } of made) if (count > 1) issues.push(`${id}: ${count} runs for ${moment}`);
  const fired = new Set(made.map(({ id, moment }) => `${id} ${moment}`));
  const changes = rows<{ what: "advanced" | "scheduled"; subject: string; detail: string }>(
    db,
    "select what, subject, detail from journal where what in ('advanced', 'scheduled') order by id",
  );
  const started = new Set<string>();
  const recorded = new Map<string, Set<string>>();
  for (const { what, subject, detail } of changes) {
    const times = recorded.get(subject) ?? new Set();
    recorded.set(subject, times);
    if (what === "scheduled") {
      started.add(`${subject} ${detail}`);
      if (times.has(detail)) issues.push(`${subject}: ${detail} ran and is recorded as skipped`);
      continue;
    }
    const { from, to, cron, timezone, skipped } = JSON.parse(detail) as Advance;
    if (to < from) {
      for (const at of times) if (at >= to) times.delete(at);
      continue;
    }
    let skippedCount = 0;
    for (let at = from; at < to; at = nextTime({ cron, timezone }, Date.parse(at))!) {
      const ran = started.has(`${subject} ${at}`);
      if (skipped !== null && at >= skipped.first && at <= skipped.last && !ran) {
        times.add(at);
        skippedCount += 1;
      } else if (!fired.has(`${subject} ${at}`))
        issues.push(`${subject}: no run for ${at}, and it is not recorded as skipped (${detail})`);
    }
    if (skippedCount !== (skipped?.count ?? 0))
      issues.push(`${subject}: ${skippedCount} times skipped, ${skipped?.count} recorded`);
  }
  return issues;
}

function unfinishedWork(db: Database.Database): string[] {
  const count = (sql: string): number => db.prepare(sql).pluck().get() as number;
  const jobs = rows<object>(db, "select * from jobs limit 5");
  const pending = count("select count(*) from approvals where status = 'pending'");
  const open = count("select count(*) from run_attempts where finished_at is null and executor is not null");
  return [
    ...jobs.map((job) => `a job remains: ${JSON.stringify(job)}`),
    ...(pending > 0 ? [`${pending} approvals are still pending`] : []),
    ...(open > 0 ? [`${open} attempts never ended`] : []),
  ];
}
