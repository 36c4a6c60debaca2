/** Contenders take turns, A B C A B C, so that what else the machine does falls on all of them. */
import { once } from "node:events";
import { median } from "./table.ts";
import type { LoadResult, LoadRequest } from "./load-generator.ts";
import { cpuMs, type Program, startProgram } from "./program.ts";

export interface BenchTarget {
  name: string;
  program: Program;
  /** As it goes over the wire. */
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
  /** Which share of one core the server and the generator were busy. */
  serverBusy: number;
  generatorBusy: number;
  responseBytes: number;
}

export interface LoadGenerator {
  load(contender: BenchTarget, connections: number, ms: number): Promise<Round>;
  stop(): Promise<void>;
}

export async function startLoadGenerator(log: string): Promise<LoadGenerator> {
  const loader = await startProgram(new URL("loader.ts", import.meta.url), [], { log });
  let number = 1;
  return {
    async load({ program, request, status }, connections, ms) {
      const before = cpuMs(program.pid);
      const job: LoadRequest = { port: program.port, request, status, connections, ms, from: number };
      loader.child.send(job);
      const [{ done, error }] = (await once(loader.child, "message")) as [
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
    stop: () => loader.stop(),
  };
}

export type Rounds = ReadonlyMap<string, readonly Round[]>;

/** A warm-up for each contender (the compiler has much to do at first), then `rounds` rounds of `ms` milliseconds each in turn. */
export async function runRounds(
  generator: LoadGenerator,
  contenders: readonly BenchTarget[],
  { rounds, ms, warmUp = 3 * ms }: { rounds: number; ms: number; warmUp?: number },
): Promise<Rounds> {
  for (const contender of contenders) await generator.load(contender, CONNECTIONS, warmUp);
  const taken = new Map<string, Round[]>(contenders.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of contenders) {
      taken.get(contender.name)!.push(await generator.load(contender, CONNECTIONS, ms));
    }
  }
  return taken;
}

/** The median over rounds of what `of` sees in a contender. */
export const medianOverRounds = (rounds: Rounds, name: string, of: (round: Round) => number): number =>
  median(rounds.get(name)!.map(of));

/**
 * How a contender stands to a floor, over rounds the median of the ratios: by throughput, and by CPU time, which other
 * work on the machine disturbs less. Above 1 it is faster, or needs less.
 */
export function compareToBaseline(
  rounds: Rounds,
  name: string,
  floor: string,
): { throughput: number; cpu: number } {
  const pairs = rounds.get(name)!.map((round, index) => [round, rounds.get(floor)![index]!] as const);
  return {
    throughput: median(pairs.map(([its, floors]) => its.perSecond / floors.perSecond)),
    cpu: median(pairs.map(([its, floors]) => floors.cpuUs / its.cpuUs)),
  };
}
