/** Rounds of load as a table of their own, below the results. */
import { medianOf, type Rounds } from "./rounds.ts";
import { microseconds, milliseconds, percent, perSecond, table } from "./table.ts";

export function roundsTable(rounds: Rounds): string {
  return table(
    ["contender", "throughput", "CPU a request", "p50", "p99", "answer", "server busy", "generator busy"],
    [...rounds.keys()].map((name) => [
      name,
      perSecond(medianOf(rounds, name, (it) => it.perSecond)),
      microseconds(medianOf(rounds, name, (it) => it.cpuUs)),
      milliseconds(medianOf(rounds, name, (it) => it.p50)),
      milliseconds(medianOf(rounds, name, (it) => it.p99)),
      `${Math.round(medianOf(rounds, name, (it) => it.answerBytes))} B`,
      percent(medianOf(rounds, name, (it) => it.serverBusy)),
      percent(medianOf(rounds, name, (it) => it.generatorBusy)),
    ]),
  );
}
