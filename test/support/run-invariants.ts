/**
 * What must be true of runs whatever happened to the processes that carried them: triggers in the database see every
 * write as it is made, in its order, and keep what must not have been.
 */
import { join } from "node:path";
import Database from "better-sqlite3";
import { Cron } from "croner";

const RECORDED = "('s', 'k', 'e', 'f')";
const SAME_UNIT = (table: string): string =>
  `${table}.run_id = new.run_id and ${table}.step_id = new.step_id and ${table}.item = new.item`;

/** A rule: when it is broken, a line says which, of what. */
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
         and exists (select 1 from jobs where kind = 'step' and ${SAME_UNIT("jobs")})`,
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
      (select 1 from jobs where kind = 'step' and state = 'claimed' and executor = new.executor
        and attempt = new.attempt and ${SAME_UNIT("jobs")})`,
  )}
  ${rule(
    "interrupted_attempt_written",
    "update on run_attempts",
    "old.status = 'interrupted' and new.status <> 'interrupted'",
  )}`;

/** Takes the triggers out of a database that nobody has open; what they have written stays. */
export function removeInvariantTriggers(file: string): void {
  const db = new Database(file);
  const names = db.prepare("select name from sqlite_schema where type = 'trigger'").pluck().all() as string[];
  for (const name of names) db.exec(`drop trigger "${name}"`);
  db.close();
}

/** Begins to watch a state directory that has its tables. */
export function installInvariantTriggers(stateDir: string): void {
  const db = new Database(join(stateDir, "millrace.db"));
  db.exec(JOURNAL);
  db.close();
}

/** A call that the peer has seen: of which unit, under which key. */
export interface RecordedCall {
  stepRef: string;
  key: string;
}

export interface ExpectedOutcome {
  /** Ids of runs whose start was acknowledged. */
  acknowledged: readonly string[];
  /** Ids of runs that were, or may have been, cancelled. */
  cancelled: ReadonlySet<string>;
  calls: readonly RecordedCall[];
  /** What a run of a workflow gives that succeeds. */
  outputOf(workflowId: string, n: number): unknown;
}

/** All that is wrong once everything has settled; empty when nothing is. */
export function issuesOfRuns(stateDir: string, expected: ExpectedOutcome): string[] {
  const db = new Database(join(stateDir, "millrace.db"), { readonly: true });
  try {
    return [
      ...journalIssues(db),
      ...runIssues(db, expected),
      ...callIssues(db, expected.calls),
      ...scheduleIssues(db),
      ...leftOver(db),
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

function runIssues(db: Database.Database, { acknowledged, cancelled, outputOf }: ExpectedOutcome): string[] {
  const issues: string[] = [];
  const runs = rows<RunRow>(
    db,
    `select r.*, v.definition from runs r join workflow_versions v using (workflow_id, version)`,
  );
  const ids = new Set(runs.map(({ id }) => id));
  for (const id of acknowledged) if (!ids.has(id)) issues.push(`${id}: was acknowledged and is not there`);
  for (const run of runs) {
    const { id, status, states } = run;
    if (run.finished_at === null) issues.push(`${id}: never ended (${status}, ${states})`);
    const told = status === "cancelled" ? cancelled.has(id) || run.parent_run !== null : status !== "failed";
    // The only thing that a crash may do to a run: a step that ran alone each time was killed too often.
    if (!told && !String(run.error).includes('"poisoned"')) issues.push(`${id}: ${status} (${run.error})`);
    if (status === "succeeded") {
      const { n } = JSON.parse(run.inputs) as { n: number };
      const wanted = JSON.stringify(outputOf(run.workflow_id, n));
      if (run.output !== wanted) issues.push(`${id}: gave ${run.output}, not ${wanted}`);
    }
    issues.push(...stateIssues(db, run));
  }
  return issues;
}

/** The letters of a run are those of its steps; none is under way in a run that has ended. */
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
    const letter = states[ids.indexOf(stepId)];
    // What was cancelled keeps what it was; nothing is ever read of it.
    if (letter === "c") continue;
    if (item === -1 && state !== letter) issues.push(`${id}: ${stepId} is ${state}, the run says ${letter}`);
    if (item === -1 && letter === "s" && done !== null && done !== total)
      issues.push(`${id}: ${stepId} has ended with ${done} of ${total} items`);
    if (item !== -1 && letter === "s" && state !== "s") issues.push(`${id}: ${stepId}[${item}] is ${state}`);
  }
  for (const [index, letter] of states.split("").entries())
    if (letter === "s" && !steps.some((step) => step.step_id === ids[index]))
      issues.push(`${id}: ${ids[index]} succeeded without a record`);
  return issues;
}

/** Every call belongs to an attempt that had begun, and whatever succeeded was called. */
function callIssues(db: Database.Database, calls: readonly RecordedCall[]): string[] {
  const issues: string[] = [];
  const seen = new Map<string, { count: number; keys: Set<string> }>();
  for (const { stepRef, key } of calls) {
    const entry = seen.get(stepRef) ?? { count: 0, keys: new Set() };
    entry.count += 1;
    entry.keys.add(key);
    seen.set(stepRef, entry);
  }
  const attempts = new Map(
    rows<{ unit: string; count: number }>(
      db,
      `select run_id || '/' || step_id || '/' || item as unit, count(*) as count from run_attempts group by 1`,
    ).map(({ unit, count }) => [unit, count]),
  );
  for (const [unit, { count, keys }] of seen) {
    const begun = attempts.get(unit) ?? 0;
    if (count > begun) issues.push(`${unit}: ${count} calls by ${begun} attempts`);
    if (keys.size !== 1) issues.push(`${unit}: several idempotency keys (${[...keys].join(", ")})`);
  }
  const succeeded = rows<{ unit: string }>(
    db,
    `select s.run_id || '/' || s.step_id || '/' || s.item as unit from run_steps s
     where s.state = 's' and s.items_total is null and s.output like '%"headers"%'`,
  );
  for (const { unit } of succeeded) if (!seen.has(unit)) issues.push(`${unit}: succeeded without a call`);
  return issues;
}

interface Advance {
  from: string;
  to: string;
  cron: string;
  timezone: string;
  skipped: { count: number; first: string; last: string } | null;
}

/** Each moment that a schedule went by made one run, or was said to be left out. */
function scheduleIssues(db: Database.Database): string[] {
  const issues: string[] = [];
  const made = rows<{ id: string; moment: string; count: number }>(
    db,
    `select workflow_id as id, scheduled_for as moment, count(*) as count from runs
     where trigger = 'schedule' group by 1, 2`,
  );
  for (const { id, moment, count } of made) if (count > 1) issues.push(`${id}: ${count} runs for ${moment}`);
  const fired = new Set(made.map(({ id, moment }) => `${id} ${moment}`));
  const went = rows<{ subject: string; detail: string }>(
    db,
    "select subject, detail from journal where what = 'advanced' order by id",
  );
  for (const { subject, detail } of went) {
    const { from, to, cron, timezone, skipped } = JSON.parse(detail) as Advance;
    const clock = new Cron(cron, { timezone, paused: true });
    let left = 0;
    for (let at = from; at < to; at = clock.nextRun(new Date(at))!.toISOString()) {
      const told = skipped !== null && at >= skipped.first && at <= skipped.last;
      if (told) left += 1;
      if (!told && !fired.has(`${subject} ${at}`))
        issues.push(`${subject}: nothing for ${at}, and not said (${detail})`);
      if (told && fired.has(`${subject} ${at}`)) issues.push(`${subject}: ${at} ran and was said not to`);
    }
    if (left !== (skipped?.count ?? 0)) issues.push(`${subject}: ${left} left out, ${skipped?.count} said`);
  }
  return issues;
}

function leftOver(db: Database.Database): string[] {
  const count = (sql: string): number => db.prepare(sql).pluck().get() as number;
  const jobs = rows<object>(db, "select * from jobs limit 5");
  const pending = count("select count(*) from approvals where status = 'pending'");
  const open = count("select count(*) from run_attempts where finished_at is null and executor is not null");
  return [
    ...jobs.map((job) => `a job is left: ${JSON.stringify(job)}`),
    ...(pending > 0 ? [`${pending} approvals are left pending`] : []),
    ...(open > 0 ? [`${open} attempts never ended`] : []),
  ];
}
