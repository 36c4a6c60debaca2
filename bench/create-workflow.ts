/** `POST /workflows`, compared with Express writing the same rows and with the disk's rate of commits. */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Bench, copyState, type Result, rawHttpRequest } from "./support/bench.ts";
import { startMillrace, startProgram } from "./support/program.ts";
import { roundsTable } from "./support/report.ts";
import { compareToBaseline, medianOverRounds, runRounds } from "./support/rounds.ts";
import { formatRatios, percent, perSecond } from "./support/table.ts";
import { NUMBER_PLACEHOLDER } from "./support/load-generator.ts";

const GOAL = 0.6;
/** Approximate growth of the write-ahead log per created workflow, in bytes. */
const COMMIT_BYTES = 24 * 1024;

export async function createWorkflow({ directory, generator, roundOptions, seed }: Bench): Promise<Result> {
  const log = join(directory, "baseline.log");
  const millrace = await startMillrace("serve", copyState(seed, directory, "create"));
  const baselineState = copyState(seed, directory, "create-baseline");
  const express = await startProgram(
    new URL("baselines/express.ts", import.meta.url),
    [join(baselineState, "millrace.db")],
    {
      log,
    },
  );
  const body = JSON.stringify({
    name: `Weekly revenue ${NUMBER_PLACEHOLDER}`,
    description: "Revenue by product for the last seven days.",
  });
  const request = rawHttpRequest("POST", "/workflows", { "X-API-Key": seed.key }, body);
  const disk = [commitsPerSecond(directory)];
  const rounds = await runRounds(
    generator,
    [
      { name: "Express baseline", program: express, request, status: 201 },
      { name: "Millrace", program: millrace, request, status: 201 },
    ],
    roundOptions,
  );
  disk.push(commitsPerSecond(directory));
  await Promise.all([millrace, express].map((program) => program.stop()));

  const throughput = (name: string): string =>
    perSecond(medianOverRounds(rounds, name, (it) => it.perSecond));
  const ratio = compareToBaseline(rounds, "Millrace", "Express baseline");
  return {
    rows: [
      {
        label: "POST /workflows",
        value: throughput("Millrace"),
        baseline: `${throughput("Express baseline")} Express`,
        ratio: formatRatios(percent, ratio),
        cpuRatio: ratio.cpu,
        goal: `≥ ${percent(GOAL)}`,
        goalMet: ratio.throughput >= GOAL,
      },
    ],
    details: `${roundsTable(rounds)}\n\nDisk: ${disk.map(perSecond).join(" before, ")} after (a write of ${COMMIT_BYTES / 1024} KiB and fdatasync, in a loop).`,
  };
}

/** Measures how many appends of a commit's size the disk makes durable per second. */
function commitsPerSecond(directory: string): number {
  const file = join(directory, "commits");
  const handle = openSync(file, "w");
  const commit = Buffer.alloc(COMMIT_BYTES, "x");
  const start = performance.now();
  let count = 0;
  for (; performance.now() - start < 500; count += 1) {
    // SQLite's log too grows at first, and is overwritten from then on.
    writeSync(handle, commit, 0, commit.byteLength, (count % 64) * commit.byteLength);
    fdatasyncSync(handle);
  }
  const seconds = (performance.now() - start) / 1000;
  closeSync(handle);
  rmSync(file);
  return count / seconds;
}
