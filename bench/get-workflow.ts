/** `GET /workflows/{id}`, compared with node:http sending the same bytes and with Express reading a key and one row. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Bench, copyState, type Result, rawHttpRequest } from "./support/bench.ts";
import { startMillrace, startProgram } from "./support/program.ts";
import { roundsTable } from "./support/report.ts";
import { compareToBaseline, medianOverRounds, runRounds } from "./support/rounds.ts";
import { formatRatios, percent, perSecond } from "./support/table.ts";

const GOAL = 0.6;

export async function getWorkflow({ directory, generator, roundOptions, seed }: Bench): Promise<Result> {
  const log = join(directory, "baseline.log");
  const millrace = await startMillrace("serve", copyState(seed, directory, "get"));
  const baselineState = copyState(seed, directory, "get-baseline");
  const express = await startProgram(
    new URL("baselines/express.ts", import.meta.url),
    [join(baselineState, "millrace.db")],
    {
      log,
    },
  );
  const headers = { "X-API-Key": seed.key };
  const path = `/workflows/${seed.id}`;
  const sampleFile = join(directory, "get.json");
  writeFileSync(
    sampleFile,
    await (await fetch(`http://127.0.0.1:${millrace.port}${path}`, { headers })).text(),
  );
  const bare = await startProgram(new URL("baselines/bare.ts", import.meta.url), [sampleFile], { log });

  const request = rawHttpRequest("GET", path, headers);
  // Millrace keeps the answer until a workflow changes, but not with the last run.
  const notKept = rawHttpRequest("GET", `${path}?include=last_run`, headers);
  const rounds = await runRounds(
    generator,
    [
      { name: "node:http, same bytes", program: bare, request, status: 200 },
      { name: "Express baseline", program: express, request, status: 200 },
      { name: "Millrace", program: millrace, request, status: 200 },
      { name: "Millrace, not kept", program: millrace, request: notKept, status: 200 },
    ],
    roundOptions,
  );
  await Promise.all([millrace, express, bare].map((program) => program.stop()));

  const throughput = (name: string): string =>
    perSecond(medianOverRounds(rounds, name, (it) => it.perSecond));
  const ratio = compareToBaseline(rounds, "Millrace", "Express baseline");
  const notKeptRatio = compareToBaseline(rounds, "Millrace, not kept", "Express baseline");
  return {
    rows: [
      {
        label: "GET /workflows/{id}",
        value: throughput("Millrace"),
        baseline: `${throughput("Express baseline")} Express`,
        ratio: formatRatios(percent, ratio),
        cpuRatio: ratio.cpu,
        goal: `≥ ${percent(GOAL)}`,
        goalMet: ratio.throughput >= GOAL,
      },
      {
        label: "GET /workflows/{id}?include=last_run",
        value: throughput("Millrace, not kept"),
        baseline: `${throughput("Express baseline")} Express`,
        ratio: formatRatios(percent, notKeptRatio),
        cpuRatio: notKeptRatio.cpu,
      },
      {
        label: "GET /workflows/{id}",
        value: throughput("Millrace"),
        baseline: `${throughput("node:http, same bytes")} node:http`,
        ratio: formatRatios(percent, compareToBaseline(rounds, "Millrace", "node:http, same bytes")),
      },
    ],
    details: roundsTable(rounds),
  };
}
