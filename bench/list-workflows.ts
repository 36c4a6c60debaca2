/** `GET /workflows` with 100 workflows, with status 200 and 304, compared with node:http sending the same bytes and with Express. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Bench, copyState, type Result, WORKFLOW_COUNT, rawHttpRequest } from "./support/bench.ts";
import { startMillrace, startProgram } from "./support/program.ts";
import { roundsTable } from "./support/report.ts";
import { compareToBaseline, medianOverRounds, runRounds } from "./support/rounds.ts";
import { formatRatios, perSecond, formatFactor } from "./support/table.ts";

const GOAL = 2;

export async function listWorkflows({ directory, generator, roundOptions, seed }: Bench): Promise<Result> {
  const log = join(directory, "baseline.log");
  const millrace = await startMillrace("serve", copyState(seed, directory, "list"));
  const baselineState = copyState(seed, directory, "list-baseline");
  const express = await startProgram(
    new URL("baselines/express.ts", import.meta.url),
    [join(baselineState, "millrace.db")],
    {
      log,
    },
  );
  const headers = { "X-API-Key": seed.key };
  const sample = await fetch(`http://127.0.0.1:${millrace.port}/workflows`, { headers });
  const sampleFile = join(directory, "list.json");
  writeFileSync(sampleFile, await sample.text());
  const bare = await startProgram(new URL("baselines/bare.ts", import.meta.url), [sampleFile], { log });

  const request = rawHttpRequest("GET", "/workflows", headers);
  const conditional = rawHttpRequest("GET", "/workflows", {
    ...headers,
    "If-None-Match": sample.headers.get("ETag")!,
  });
  const rounds = await runRounds(
    generator,
    [
      { name: "node:http, same bytes", program: bare, request, status: 200 },
      { name: "Express baseline", program: express, request, status: 200 },
      { name: "Millrace", program: millrace, request, status: 200 },
      { name: "Millrace, 304", program: millrace, request: conditional, status: 304 },
    ],
    roundOptions,
  );
  await Promise.all([millrace, express, bare].map((program) => program.stop()));

  const throughput = (name: string): string =>
    perSecond(medianOverRounds(rounds, name, (it) => it.perSecond));
  const ratio = compareToBaseline(rounds, "Millrace", "Express baseline");
  const notModified = compareToBaseline(rounds, "Millrace, 304", "Express baseline");
  return {
    rows: [
      {
        label: `GET /workflows, ${WORKFLOW_COUNT} stored`,
        value: throughput("Millrace"),
        baseline: `${throughput("Express baseline")} Express`,
        ratio: formatRatios(formatFactor, ratio),
        cpuRatio: ratio.cpu,
        goal: `≥ ${GOAL}×`,
        goalMet: ratio.throughput >= GOAL,
      },
      {
        label: "GET /workflows, 304",
        value: throughput("Millrace, 304"),
        baseline: `${throughput("Express baseline")} Express`,
        ratio: formatRatios(formatFactor, notModified),
        cpuRatio: notModified.cpu,
      },
      {
        label: "GET /workflows",
        value: throughput("Millrace"),
        baseline: `${throughput("node:http, same bytes")} node:http`,
        ratio: formatRatios(formatFactor, compareToBaseline(rounds, "Millrace", "node:http, same bytes")),
      },
    ],
    details: roundsTable(rounds),
  };
}
