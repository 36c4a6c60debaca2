import { medianOverRounds, type Rounds } from "./rounds.ts";
import { microseconds, milliseconds, percent, perSecond, table } from "./table.ts";

export function roundsTable(rounds: Rounds): string {
  return table(
    ["target", "throughput", "CPU per request", "p50", "p99", "response", "server busy", "generator busy"],
    [...rounds.keys()].map((name) => [
      name,
      perSecond(medianOverRounds(rounds, name, (it) => it.perSecond)),
      microseconds(medianOverRounds(rounds, name, (it) => it.cpuUs)),
      milliseconds(medianOverRounds(rounds, name, (it) => it.p50)),
      milliseconds(medianOverRounds(rounds, name, (it) => it.p99)),
      `${Math.round(medianOverRounds(rounds, name, (it) => it.responseBytes))} B`,
      percent(medianOverRounds(rounds, name, (it) => it.serverBusy)),
      percent(medianOverRounds(rounds, name, (it) => it.generatorBusy)),
    ]),
  );
}
