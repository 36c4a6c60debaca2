/** Reads the event-loop delays of a program and its children, see `report-loop-delay.ts`. */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Program } from "./program.ts";
import type { LoopDelay } from "./report-loop-delay.ts";

const ANSWER_LIMIT_MS = 30_000;

/** The environment of a program whose event loops are watched. @param directory where its processes write */
export function loopDelayEnvironment(directory: string): Record<string, string> {
  mkdirSync(directory, { recursive: true });
  const file = new URL("report-loop-delay.ts", import.meta.url).href;
  return { NODE_OPTIONS: `--import=${file}`, LOOP_DELAY_DIRECTORY: directory };
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);

/** The delays of each process since the last call, in milliseconds. */
export async function loopDelays({ pid }: Program, directory: string): Promise<LoopDelay[]> {
  const delays: LoopDelay[] = [];
  for (const process_ of [pid, ...childrenOf(pid)]) {
    const file = join(directory, `${process_}.json`);
    rmSync(file, { force: true });
    process.kill(process_, "SIGUSR2");
    for (let waited = 0; !existsSync(file) && waited < ANSWER_LIMIT_MS; waited += 20) await delay(20);
    delays.push(JSON.parse(readFileSync(file, "utf8")) as LoopDelay);
  }
  return delays;
}
