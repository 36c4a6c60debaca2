/** Triggers in the database that see every write in order, and record what breaks an invariant of runs in a journal. */
import Database from "better-sqlite3";
import type { StateAccess } from "./state-access.ts";

const RECORDED = "('s', 'k', 'e', 'f')";
const SAME_UNIT = (table: string): string =>
  `${table}.run_id = new.run_id and ${table}.step_id = new.step_id and ${table}.item = new.item`;

/** What differs between the databases in the triggers. */
interface TriggerDialect {
  id: string;
  jsonObject: string;
  json(text: string): string;
  /** A trigger that runs `action` for each row that meets `condition`. */
  trigger(name: string, when: string, condition: string, action: string): string;
}

const DIALECTS: Readonly<Record<StateAccess["dialect"], TriggerDialect>> = {
  sqlite: {
    id: "integer primary key autoincrement",
    jsonObject: "json_object",
    json: (text) => `json(${text})`,
    trigger: (name, when, condition, action) =>
      `create trigger journal_${name} after ${when} when ${condition} begin ${action}; end;`,
  },
  postgres: {
    id: "bigint generated always as identity primary key",
    jsonObject: "json_build_object",
    json: (text) => `(${text})::json`,
    trigger: (name, when, condition, action) => `
      create function journal_${name}() returns trigger language plpgsql as $$
        begin if ${condition} then ${action}; end if; return null; end $$;
      create trigger journal_${name} after ${when} for each row execute function journal_${name}();`,
  },
};

const record = (what: string, subject: string, detail: string): string =>
  `insert into journal (what, subject, detail) values ('${what}', ${subject}, ${detail})`;

function journalOf({ id, jsonObject, json, trigger }: TriggerDialect): string {
  /** An invariant; a violation is recorded as a line with its name and subject. */
  const rule = (name: string, when: string, condition: string): string =>
    when.endsWith("on runs")
      ? trigger(name, when, condition, record("broken", "new.id", `'${name}'`))
      : trigger(
          name,
          when,
          condition,
          record("broken", "new.run_id", `'${name} ' || new.step_id || ' ' || new.item`),
        );
  const skipped = "case when new.skipped is distinct from old.skipped then new.skipped end";
  return [
    `create table if not exists journal (id ${id}, what text, subject text, detail text);`,
    trigger(
      "ended",
      "update on runs",
      "old.finished_at is null and new.finished_at is not null",
      record("ended", "new.id", "new.status"),
    ),
    trigger(
      "advanced",
      "update on schedules",
      "old.next_at is distinct from new.next_at",
      record(
        "advanced",
        "new.workflow_id",
        `${jsonObject}('from', old.next_at, 'last', new.last_at, 'to', new.next_at, 'cron', new.cron,
           'timezone', new.timezone, 'skipped', ${json(skipped)})`,
      ),
    ),
    rule(
      "ended_run_changed",
      "update on runs",
      `old.finished_at is not null and (new.finished_at is distinct from old.finished_at
        or new.status is distinct from old.status or new.output is distinct from old.output
        or new.states is distinct from old.states)`,
    ),
    rule(
      "recorded_step_written_again",
      "update on run_steps",
      `old.state in ${RECORDED} and old.items_total is null`,
    ),
    ...["insert", "update"].map((verb) =>
      rule(
        `written_without_the_job_${verb}`,
        `${verb} on run_steps`,
        `(new.state in ('s', 'k', 'e', 'f', 'w') and new.items_total is null
          or new.items_total is not null and new.items_done = 0 and new.state = 'r' ${verb === "update" ? "and old.items_total is null" : ""})
         and exists (select 1 from jobs where kind in ('step', 'undo') and ${SAME_UNIT("jobs")})`,
      ),
    ),
    rule(
      "begun_after_its_record",
      "insert on run_attempts",
      `new.status = 'running' and exists
        (select 1 from run_steps where ${SAME_UNIT("run_steps")} and state in ${RECORDED})`,
    ),
    rule(
      "begun_after_the_run_ended",
      "insert on run_attempts",
      `new.status = 'running' and exists
        (select 1 from runs where id = new.run_id and finished_at is not null)`,
    ),
    rule(
      "begun_without_the_job",
      "insert on run_attempts",
      `new.status = 'running' and new.executor is not null and not exists
        (select 1 from jobs where kind in ('step', 'undo') and state = 'claimed' and executor = new.executor
          and attempt = new.attempt and ${SAME_UNIT("jobs")})`,
    ),
    rule(
      "interrupted_attempt_written",
      "update on run_attempts",
      "old.status = 'interrupted' and new.status <> 'interrupted'",
    ),
  ].join("\n");
}

/** Removes the triggers from a database that no process has open; recorded violations stay. */
export function removeInvariantTriggers(file: string): void {
  const db = new Database(file);
  const names = db.prepare("select name from sqlite_schema where type = 'trigger'").pluck().all() as string[];
  for (const name of names) db.exec(`drop trigger "${name}"`);
  db.close();
}

/** Installs the triggers in an existing state. */
export const installInvariantTriggers = (state: StateAccess): Promise<void> =>
  state.execute(journalOf(DIALECTS[state.dialect]));
