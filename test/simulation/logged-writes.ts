/** Lets the database write down what changes in it, for the story of a simulation. */
import Database from "better-sqlite3";
import { databaseFileIn } from "../../src/store/state-directory.ts";

const place = (row: string): string =>
  `${row}.run_id || '/' || ${row}.step_id || case when ${row}.item < 0 then '' else '[' || ${row}.item || ']' end`;

const line = (name: string, when: string, text: string): string =>
  `create trigger logged_${name} after ${when} begin insert into logged_writes (line) values (${text}); end;`;

const SCHEMA = `
  create table logged_writes (id integer primary key autoincrement, line text);
  ${line("job", "insert on jobs", `'job ' || new.kind || ' ' || ${place("new")} || ' is ' || new.state || coalesce(' at ' || new.due_at, '')`)}
  ${line(
    "job_state",
    "update of state, executor, fence on jobs",
    `'job ' || new.kind || ' ' || ${place("new")} || ' is ' || new.state || ', attempt ' || new.attempt || ', fence '
     || new.fence || coalesce(', ' || new.executor, '')`,
  )}
  ${line("job_end", "delete on jobs", `'job ' || old.kind || ' ' || ${place("old")} || ' ends'`)}
  ${line("attempt", "insert on run_attempts", `'attempt ' || new.attempt || ' of ' || ${place("new")} || ' is ' || new.status`)}
  ${line("attempt_end", "update on run_attempts", `'attempt ' || new.attempt || ' of ' || ${place("new")} || ' is ' || new.status`)}
  ${line("step", "insert on run_steps", `${place("new")} || ' is ' || new.state`)}
  ${line("step_state", "update of state on run_steps", `${place("new")} || ' is ' || new.state`)}
  ${line("run", "insert on runs", "new.id || ' of ' || new.workflow_id || ' starts'")}
  ${line("run_state", "update of status, states on runs", "new.id || ' is ' || new.status || ', its steps ' || new.states")}
  ${line("interruption", "insert on interruptions", `'interruption of ' || ${place("new")} || ': ' || new.reason`)}
  ${line("settled", "update on interruptions", `'interruption of ' || ${place("new")} || ' is ' || coalesce(new.outcome, 'open')`)}`;

/** Prepares a state directory for `readLoggedWrites`. */
export function logWrites(stateDir: string): void {
  const db = new Database(databaseFileIn(stateDir));
  db.exec(SCHEMA);
  db.close();
}

/** @returns a function that returns the lines of the writes since its last call */
export function readLoggedWrites(db: Database.Database): () => string[] {
  const after = db.prepare("select id, line from logged_writes where id > ? order by id");
  let last = 0;
  return () => {
    const found = after.all(last) as { id: number; line: string }[];
    last = found.at(-1)?.id ?? last;
    return found.map((it) => it.line);
  };
}
