/** Measures targets in turns, A B C A B C, so that other work on the machine affects all of them. */
import { once } from "node:events";
import { median } from "./table.ts";
import type { LoadResult, LoadRequest } from "./load-generator.ts";
import { cpuMs, type Program, startProgram } from "./program.ts";

export interface BenchTarget {
  name: string;
  program: Program;
  /** The whole HTTP request. */
  request: string;
  status: number;
}

const CONNECTIONS = 16;

export interface Round {
  perSecond: number;
  /** CPU time of the server for one request, in microseconds. */
  cpuUs: number;
  p50: number;
  p99: number;
  /** CPU time of the server and of the generator, as a share of one core. */
  serverBusy: number;
  generatorBusy: number;
  responseBytes: number;
}

export interface LoadGenerator {
  load(target: BenchTarget, connections: number, ms: number): Promise<Round>;
  stop(): Promise<void>;
}

export async function startLoadGenerator(log: string): Promise<LoadGenerator> {
  const generator = await startProgram(new URL("load-generator.ts", import.meta.url), [], { log });
  let number = 1;
  return {
    async load({ program, request, status }, connections, ms) {
      const before = cpuMs(program.pid);
      const job: LoadRequest = { port: program.port, request, status, connections, ms, from: number };
      generator.child.send(job);
      const [{ done, error }] = (await once(generator.child, "message")) as [
        { done?: LoadResult; error?: string },
      ];
      if (done === undefined) throw new Error(error);
      number += done.requests + connections;
      const cpu = cpuMs(program.pid) - before;
      return {
        perSecond: (done.requests / done.ms) * 1000,
        cpuUs: (cpu / done.requests) * 1000,
        p50: done.p50,
        p99: done.p99,
        serverBusy: cpu / done.ms,
        generatorBusy: done.cpuMs / done.ms,
        responseBytes: done.bytes / done.requests,
      };
    },
    stop: () => generator.stop(),
  };
}

export type Rounds = ReadonlyMap<string, readonly Round[]>;

/** Warms each target up, for V8's compiler, then measures `rounds` rounds of `ms` milliseconds of each in turns. */
export async function runRounds(
  generator: LoadGenerator,
  targets: readonly BenchTarget[],
  { rounds, ms, warmUp = 3 * ms }: { rounds: number; ms: number; warmUp?: number },
): Promise<Rounds> {
  for (const target of targets) await generator.load(target, CONNECTIONS, warmUp);
  const measured = new Map<string, Round[]>(targets.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const target of targets) {
      measured.get(target.name)!.push(await generator.load(target, CONNECTIONS, ms));
    }
  }
  return measured;
}

/** The median of a value over a target's rounds. */
export const medianOverRounds = (rounds: Rounds, name: string, valueOf: (round: Round) => number): number =>
  median(rounds.get(name)!.map(valueOf));

/**
 * Compares a target with its baseline: the medians over rounds of the ratios of throughput, and of CPU time, which other
 * work on the machine affects less. Above 1 the target is faster, or needs less CPU time.
 */
export function compareToBaseline(
  rounds: Rounds,
  name: string,
  baseline: string,
): { throughput: number; cpu: number } {
  const pairs = rounds.get(name)!.map((round, index) => [round, rounds.get(baseline)![index]!] as const);
  return {
    throughput: median(pairs.map(([own, base]) => own.perSecond / base.perSecond)),
    cpu: median(pairs.map(([own, base]) => base.cpuUs / own.cpuUs)),
  };
}
