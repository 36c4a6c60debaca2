/** `GET /workflows/{id}` during a password attack at full speed, compared with the same server without an attack. */
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { type Bench, copyState, type Result, rawHttpRequest } from "./support/bench.ts";
import { cpuMs, type Program, startMillrace } from "./support/program.ts";
import { roundsTable } from "./support/report.ts";
import { compareToBaseline, medianOverRounds, type Round } from "./support/rounds.ts";
import {
  formatRatios,
  median,
  microseconds,
  milliseconds,
  percent,
  perSecond,
  table,
  type Row,
} from "./support/table.ts";

/** Concurrent guesses: twice as many as are hashed or wait for it at a time. */
const GUESSERS = 32;
const QUIET = "no attack";

/** The source address and the account of each guess, by its number. */
const ATTACKS: Readonly<Record<string, (number: number) => { from: string; email: string }>> = {
  // The server refuses these after five guesses, without reading the database.
  "one address at one account": () => ({ from: "192.0.2.1", email: "ann@example.com" }),
  // The worst case: no limit is reached, so that the server hashes as many passwords as it can.
  "many addresses at many accounts": (number) => ({
    from: `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`,
    email: `nobody${number}@example.com`,
  }),
};

export async function passwordAttack({ directory, generator, roundOptions, seed }: Bench): Promise<Result> {
  const millrace = await startMillrace("serve", copyState(seed, directory, "attack"), {
    MILLRACE_TRUSTED_PROXIES: "127.0.0.1",
  });
  const get = {
    program: millrace,
    request: rawHttpRequest("GET", `/workflows/${seed.id}`, { "X-API-Key": seed.key }),
    status: 200,
  };
  const rounds = new Map<string, Round[]>();
  const guesses = new Map<string, Guesses[]>();
  const load = async (name: string, connections: number): Promise<void> => {
    const label = `${name}, ${connections} at a time`;
    const round = await generator.load({ name: label, ...get }, connections, roundOptions.ms);
    rounds.set(label, [...(rounds.get(label) ?? []), round]);
  };
  await generator.load({ name: "warm-up", ...get }, 16, 3 * roundOptions.ms);
  let number = 0;
  for (let round = 0; round < roundOptions.rounds; round += 1) {
    for (const connections of [16, 1]) await load(QUIET, connections);
    for (const [name, guess] of Object.entries(ATTACKS)) {
      const alone = await guessDuring(
        millrace,
        () => guess((number += 1)),
        () => delay(roundOptions.ms),
      );
      guesses.set(name, [...(guesses.get(name) ?? []), alone]);
      for (const connections of [16, 1])
        await guessDuring(
          millrace,
          () => guess((number += 1)),
          () => load(name, connections),
        );
    }
  }
  await millrace.stop();

  const rows = Object.keys(ATTACKS).flatMap((name): Row[] => {
    const [many, one] = [16, 1].map((connections) => `${name}, ${connections} at a time`) as [string, string];
    const [manyQuiet, oneQuiet] = [`${QUIET}, 16 at a time`, `${QUIET}, 1 at a time`];
    const at = (label: string, of: "p50" | "p99"): number => medianOverRounds(rounds, label, (it) => it[of]);
    return [
      {
        label: `GET /workflows/{id} during guesses from ${name}`,
        value: perSecond(medianOverRounds(rounds, many, (it) => it.perSecond)),
        baseline: `${perSecond(medianOverRounds(rounds, manyQuiet, (it) => it.perSecond))} without attack`,
        ratio: formatRatios(percent, compareToBaseline(rounds, many, manyQuiet)),
      },
      {
        label: "the same with one request at a time: p50, p99",
        value: `${milliseconds(at(one, "p50"))}, ${milliseconds(at(one, "p99"))}`,
        baseline: `${milliseconds(at(oneQuiet, "p50"))}, ${milliseconds(at(oneQuiet, "p99"))} without attack`,
        ratio: `${(at(one, "p50") / at(oneQuiet, "p50")).toFixed(1)}×, ${(at(one, "p99") / at(oneQuiet, "p99")).toFixed(1)}×`,
      },
    ];
  });
  return { rows, details: `${guessesTable(guesses)}\n\n${roundsTable(rounds)}` };
}

/** The outcomes of the guesses, and their cost. */
interface Guesses {
  ms: number;
  cpuMs: number;
  /** Number by HTTP status: 401 hashed and compared, 429 refused, 503 too many waiting. */
  byStatus: Map<number, number>;
}

/** Guesses at full speed until `work` has ended. */
async function guessDuring(
  program: Program,
  guess: () => { from: string; email: string },
  work: () => Promise<void>,
): Promise<Guesses> {
  const agent = new Agent({ keepAlive: true, maxSockets: GUESSERS });
  const byStatus = new Map<number, number>();
  const ended = new AbortController();
  const cpu = cpuMs(program.pid);
  const start = performance.now();
  const guessers = Array.from({ length: GUESSERS }, async () => {
    while (!ended.signal.aborted) {
      const status = await tryOnce(program.port, agent, guess());
      if (!ended.signal.aborted) byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    }
  });
  await work();
  ended.abort();
  const found = { ms: performance.now() - start, cpuMs: cpuMs(program.pid) - cpu, byStatus };
  await Promise.all(guessers);
  agent.destroy();
  return found;
}

async function tryOnce(
  port: number,
  agent: Agent,
  { from, email }: { from: string; email: string },
): Promise<number> {
  const body = JSON.stringify({ email, password: "a guess like any other" });
  const headers = {
    "X-Forwarded-For": from,
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
  };
  const sent = request({ port, host: "127.0.0.1", path: "/session", method: "POST", agent, headers });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  return response.statusCode!;
}

function guessesTable(guesses: ReadonlyMap<string, readonly Guesses[]>): string {
  const rate = (all: readonly Guesses[], status: number): string =>
    perSecond(median(all.map(({ byStatus, ms }) => ((byStatus.get(status) ?? 0) / ms) * 1_000)));
  const answered = ({ byStatus }: Guesses): number =>
    [...byStatus.values()].reduce((sum, count) => sum + count, 0);
  return table(
    ["guesses alone", "hashed", "refused", "too many waiting", "CPU per guess", "server busy"],
    [...guesses].map(([name, all]) => [
      name,
      rate(all, 401),
      rate(all, 429),
      rate(all, 503),
      microseconds(median(all.map((it) => (it.cpuMs / answered(it)) * 1_000))),
      percent(median(all.map((it) => it.cpuMs / it.ms))),
    ]),
  );
}
