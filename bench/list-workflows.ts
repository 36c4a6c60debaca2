/** `GET /workflows` with 100 stored, whole and as 304, against node:http with the same bytes and against Express. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Bench, copyOf, type Result, STORED, wire } from "./support/bench.ts";
import { startMillrace, startProgram } from "./support/program.ts";
import { roundsTable } from "./support/report.ts";
import { against, medianOf, takeTurns } from "./support/rounds.ts";
import { both, perSecond, times } from "./support/table.ts";

const GOAL = 2;

export async function listWorkflows({ directory, generator, turns, seed }: Bench): Promise<Result> {
  const log = join(directory, "floor.log");
  const millrace = await startMillrace("serve", copyOf(seed, directory, "list"));
  const floorState = copyOf(seed, directory, "list-floor");
  const express = await startProgram(
    new URL("floors/express.ts", import.meta.url),
    [join(floorState, "millrace.db")],
    {
      log,
    },
  );
  const headers = { "X-API-Key": seed.key };
  const sample = await fetch(`http://127.0.0.1:${millrace.port}/workflows`, { headers });
  const sampleFile = join(directory, "list.json");
  writeFileSync(sampleFile, await sample.text());
  const bare = await startProgram(new URL("floors/bare.ts", import.meta.url), [sampleFile], { log });

  const request = wire("GET", "/workflows", headers);
  const conditional = wire("GET", "/workflows", { ...headers, "If-None-Match": sample.headers.get("ETag")! });
  const rounds = await takeTurns(
    generator,
    [
      { name: "node:http, same bytes", program: bare, request, status: 200 },
      { name: "Express floor", program: express, request, status: 200 },
      { name: "Millrace", program: millrace, request, status: 200 },
      { name: "Millrace, 304", program: millrace, request: conditional, status: 304 },
    ],
    turns,
  );
  await Promise.all([millrace, express, bare].map((program) => program.stop()));

  const throughput = (name: string): string => perSecond(medianOf(rounds, name, (it) => it.perSecond));
  const ratio = against(rounds, "Millrace", "Express floor");
  return {
    rows: [
      {
        what: `GET /workflows, ${STORED} stored`,
        value: throughput("Millrace"),
        floor: `${throughput("Express floor")} Express`,
        ratio: both(times, ratio),
        goal: `≥ ${GOAL}×`,
        met: ratio.throughput >= GOAL,
      },
      {
        what: "GET /workflows, 304",
        value: throughput("Millrace, 304"),
        floor: `${throughput("Express floor")} Express`,
        ratio: both(times, against(rounds, "Millrace, 304", "Express floor")),
      },
      {
        what: "GET /workflows",
        value: throughput("Millrace"),
        floor: `${throughput("node:http, same bytes")} node:http`,
        ratio: both(times, against(rounds, "Millrace", "node:http, same bytes")),
      },
    ],
    details: roundsTable(rounds),
  };
}
