/** Shares the connections of a database server among the owners of its statements. */
import type { CallContext } from "../../core/connections.ts";
import { StepError } from "../../core/step-errors.ts";
import type { FairPool } from "../fair-pool.ts";
import { abortError, type Driver } from "./driver.ts";

/**
 * Lets statements wait in turns before they ask the driver for a connection: its own pool would serve them by age, and
 * count the time in which they wait as time to connect.
 * @param places one for each connection of the driver's pool; drivers of one server share them
 */
export function shareConnections(driver: Driver, places: FairPool): Driver {
  const inTurn = async <T>(call: CallContext, task: () => Promise<T>): Promise<T> => {
    try {
      return await places.run(call, task);
    } catch (error) {
      throw call.signal.aborted && !(error instanceof StepError) ? abortError(call.signal) : error;
    }
  };
  return {
    ...driver,
    query: (statement, limits, call) => inTurn(call, () => driver.query(statement, limits, call)),
    prepare: (statement, call) => inTurn(call, () => driver.prepare(statement, call)),
    describe: (options, call) => inTurn(call, () => driver.describe(options, call)),
  };
}
