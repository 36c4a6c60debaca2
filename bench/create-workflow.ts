/** `POST /workflows` against Express writing the same rows, and against what the disk can commit at all. */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Bench, copyState, type Result, rawHttpRequest } from "./support/bench.ts";
import { startMillrace, startProgram } from "./support/program.ts";
import { roundsTable } from "./support/report.ts";
import { compareToBaseline, medianOverRounds, runRounds } from "./support/rounds.ts";
import { formatRatios, percent, perSecond } from "./support/table.ts";
import { NUMBER_PLACEHOLDER } from "./support/load-generator.ts";

const GOAL = 0.6;
/** About what the write-ahead log grows by for one created workflow. */
const COMMIT_BYTES = 24 * 1024;

export async function createWorkflow({ directory, generator, roundOptions, seed }: Bench): Promise<Result> {
  const log = join(directory, "floor.log");
  const millrace = await startMillrace("serve", copyState(seed, directory, "create"));
  const floorState = copyState(seed, directory, "create-floor");
  const express = await startProgram(
    new URL("floors/express.ts", import.meta.url),
    [join(floorState, "millrace.db")],
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
      { name: "Express floor", program: express, request, status: 201 },
      { name: "Millrace", program: millrace, request, status: 201 },
    ],
    roundOptions,
  );
  disk.push(commitsPerSecond(directory));
  await Promise.all([millrace, express].map((program) => program.stop()));

  const throughput = (name: string): string =>
    perSecond(medianOverRounds(rounds, name, (it) => it.perSecond));
  const ratio = compareToBaseline(rounds, "Millrace", "Express floor");
  return {
    rows: [
      {
        label: "POST /workflows",
        value: throughput("Millrace"),
        baseline: `${throughput("Express floor")} Express`,
        ratio: formatRatios(percent, ratio),
        goal: `≥ ${percent(GOAL)}`,
        goalMet: ratio.throughput >= GOAL,
      },
    ],
    details: `${roundsTable(rounds)}\n\nThe disk: ${disk.map(perSecond).join(" before, ")} after (a write of ${COMMIT_BYTES / 1024} KiB and fdatasync, in a loop).`,
  };
}

/** How often a second this disk makes an append of a commit's size durable. */
function commitsPerSecond(directory: string): number {
  const file = join(directory, "commits");
  const handle = openSync(file, "w");
  const commit = Buffer.alloc(COMMIT_BYTES, "x");
  const start = performance.now();
  let count = 0;
  for (; performance.now() - start < 500; count += 1) {
    // As the log of SQLite: it grows at first and is written over from then on.
    writeSync(handle, commit, 0, commit.byteLength, (count % 64) * commit.byteLength);
    fdatasyncSync(handle);
  }
  const seconds = (performance.now() - start) / 1000;
  closeSync(handle);
  rmSync(file);
  return count / seconds;
}
