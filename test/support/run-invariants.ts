/** Checks invariants of runs after failures of their processes. */
import { nextTime } from "../../src/engine/definition/schedule-times.ts";
import type { StateAccess } from "./state-access.ts";

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
  /** The expected output of a successful run. */
  outputOf(workflowId: string, n: number): unknown;
  /** The code of the error that the runs of a workflow fail with; undefined if they succeed. */
  errorOf(workflowId: string): string | undefined;
}

/** Returns all violations after all runs have ended. */
export async function issuesOfRuns(state: StateAccess, expected: ExpectedOutcome): Promise<string[]> {
  const issues = [
    await journalIssues(state),
    await runIssues(state, expected),
    await callIssues(state, expected.calls),
    await undoIssues(state),
    await scheduleIssues(state),
    await commitIssues(state),
    await eventIssues(state, expected.received),
    await unfinishedWork(state),
  ];
  return issues.flat();
}

async function journalIssues(state: StateAccess): Promise<string[]> {
  const broken = await state.rows<{ subject: string; detail: string; count: number }>(
    "select subject, detail, count(*) as count from journal where what = 'broken' group by subject, detail",
  );
  const twice = await state.rows<{ subject: string }>(
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

async function runIssues(
  state: StateAccess,
  { acknowledged, cancelled, outputOf, errorOf }: ExpectedOutcome,
): Promise<string[]> {
  const issues: string[] = [];
  const runs = await state.rows<RunRow>(
    `select r.*, v.definition from runs r join workflow_versions v using (workflow_id, version)`,
  );
  const steps = Map.groupBy(
    await state.rows<StepRow>(
      "select run_id, step_id, item, state, items_done as done, items_total as total from run_steps",
    ),
    (step) => step.run_id,
  );
  const ids = new Set(runs.map(({ id }) => id));
  for (const id of acknowledged) if (!ids.has(id)) issues.push(`${id}: was acknowledged and is missing`);
  for (const run of runs) {
    const { id, status, states } = run;
    if (run.finished_at === null) issues.push(`${id}: never ended (${status}, ${states})`);
    const code = errorOf(run.workflow_id);
    const ended = code === undefined ? status === "succeeded" : run.error?.includes(`"${code}"`) === true;
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
    issues.push(...stateIssues(run, steps.get(id) ?? []));
  }
  return issues;
}

interface StepRow {
  run_id: string;
  step_id: string;
  item: number;
  state: string;
  done: number | null;
  total: number;
}

/** The states in a run equal those of its steps; an ended run has no step in progress. */
function stateIssues({ id, states, definition }: RunRow, steps: readonly StepRow[]): string[] {
  const issues: string[] = [];
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
    if (item !== -1 && letter === "s" && state !== "s") issues.push(`${id}: ${stepId}[${item}] is ${state}`);
  }
  for (const [index, letter] of states.split("").entries())
    if (letter === "s" && !steps.some((step) => step.step_id === ids[index]))
      issues.push(`${id}: ${ids[index]} succeeded without a record`);
  return issues;
}

/** Every call belongs to a started attempt, and every successful attempt has a call. */
async function callIssues(state: StateAccess, calls: readonly RecordedCall[]): Promise<string[]> {
  const issues: string[] = [];
  const seen = new Map<string, { count: number; keys: Set<string> }>();
  for (const { stepRef, key } of calls) {
    const entry = seen.get(stepRef) ?? { count: 0, keys: new Set() };
    entry.count += 1;
    entry.keys.add(key);
    seen.set(stepRef, entry);
  }
  const counted = await state.rows<{ stepRef: string; count: number }>(
    `select run_id || '/' || step_id || '/' || item as "stepRef", count(*) as count from run_attempts group by 1`,
  );
  const attempts = new Map(counted.map(({ stepRef, count }) => [stepRef, count]));
  for (const [stepRef, { count, keys }] of seen) {
    const started = attempts.get(stepRef) ?? 0;
    if (count > started) issues.push(`${stepRef}: ${count} calls by ${started} attempts`);
    if (keys.size !== 1) issues.push(`${stepRef}: several idempotency keys (${[...keys].join(", ")})`);
  }
  const succeeded = await state.rows<{ stepRef: string }>(
    `select s.run_id || '/' || s.step_id || '/' || s.item as "stepRef" from run_steps s
     where s.state = 's' and s.items_total is null and s.output like '%"headers"%'`,
  );
  for (const { stepRef } of succeeded)
    if (!seen.has(stepRef)) issues.push(`${stepRef}: succeeded without a call`);
  return issues;
}

/** Each succeeded run of a workflow with state has committed once, and no other run has. */
async function commitIssues(state: StateAccess): Promise<string[]> {
  const counted = await state.rows<{
    id: string;
    revision: number;
    body: string;
    succeeded: number;
    other: number;
  }>(
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
async function eventIssues(state: StateAccess, received: readonly string[]): Promise<string[]> {
  const stored = await state.rows<{ id: string; body: string; output: string | null }>(
    `select e.run_id as id, e.body, s.output from events e
     left join run_steps s on s.run_id = e.run_id and s.step_id = e.step_id and s.item = -1 and s.state = 's'`,
  );
  const recorded = new Map(stored.map((event) => [event.id, event]));
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
async function undoIssues(state: StateAccess): Promise<string[]> {
  const steps = await state.rows<{ run_id: string; step_id: string; item: number; undone: string | null }>(
    `select s.run_id, s.step_id, s.item, u.state as undone from run_steps s
     join runs r on r.id = s.run_id and r.status <> 'succeeded' and r.workflow_id = 'saga'
     left join run_steps u on u.run_id = s.run_id and u.step_id = 'undo:' || s.step_id and u.item = s.item
     where s.state = 's' and s.items_total is null and s.step_id not like 'undo:%'`,
  );
  const order = await state.rows<{ run_id: string }>(
    `select a.run_id from run_steps a join run_steps b on b.run_id = a.run_id and b.item >= 0
     where a.step_id = 'undo:first' and b.step_id = 'undo:each' and b.seq > a.seq`,
  );
  const early = await state.rows<{ run_id: string }>(
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

/** Each time of a schedule created one run, or was recorded as skipped. */
async function scheduleIssues(state: StateAccess): Promise<string[]> {
  const issues: string[] = [];
  const made = await state.rows<{ id: string; moment: string; count: number }>(
    `select workflow_id as id, scheduled_for as moment, count(*) as count from runs
     where trigger = 'schedule' group by 1, 2`,
  );
  for (const { id, moment, count } of made) if (count > 1) issues.push(`${id}: ${count} runs for ${moment}`);
  const fired = new Set(made.map(({ id, moment }) => `${id} ${moment}`));
  const advances = await state.rows<{ subject: string; detail: string }>(
    "select subject, detail from journal where what = 'advanced' order by id",
  );
  for (const { subject, detail } of advances) {
    const { from, to, cron, timezone, skipped } = JSON.parse(detail) as Advance;
    let skippedCount = 0;
    for (let at = from; at < to; at = nextTime({ cron, timezone }, Date.parse(at))!) {
      const recorded = skipped !== null && at >= skipped.first && at <= skipped.last;
      if (recorded) skippedCount += 1;
      if (!recorded && !fired.has(`${subject} ${at}`))
        issues.push(`${subject}: no run for ${at}, and it is not recorded as skipped (${detail})`);
      if (recorded && fired.has(`${subject} ${at}`))
        issues.push(`${subject}: ${at} ran and is recorded as skipped`);
    }
    if (skippedCount !== (skipped?.count ?? 0))
      issues.push(`${subject}: ${skippedCount} times skipped, ${skipped?.count} recorded`);
  }
  return issues;
}

async function unfinishedWork(state: StateAccess): Promise<string[]> {
  const count = async (table: string, condition: string): Promise<number> =>
    (await state.rows<{ count: number }>(`select count(*) as count from ${table} where ${condition}`))[0]!
      .count;
  const jobs = await state.rows<object>("select * from jobs limit 5");
  const pending = await count("approvals", "status = 'pending'");
  const open = await count("run_attempts", "finished_at is null and executor is not null");
  return [
    ...jobs.map((job) => `a job remains: ${JSON.stringify(job)}`),
    ...(pending > 0 ? [`${pending} approvals are still pending`] : []),
    ...(open > 0 ? [`${open} attempts never ended`] : []),
  ];
}
