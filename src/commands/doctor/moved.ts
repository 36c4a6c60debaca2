/** The result for a state that was moved to PostgreSQL: nothing else in it is checked, because no process opens it. */
import { movedStateAdvice } from "../../store/moved-state.ts";
import { type CheckResult, checkResultsOf, STATE } from "./check-result.ts";

/** @param to the place of the database that it was moved to */
export const movedResult = (to: string, stateDir: string): CheckResult =>
  checkResultsOf(STATE).error(
    "database",
    `the state was moved to PostgreSQL (${to})`,
    movedStateAdvice(stateDir),
  );
